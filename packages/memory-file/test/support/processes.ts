import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import type { ChildTask } from "./child.ts";
import { temporaryDirectory } from "./store.ts";

/** A process of its own that works on memory. */
export interface Child {
  readonly process: ChildProcess;
  /** The complete lines that it has told until now. */
  readonly told: readonly string[];
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<number | string | null>;
  /** Resolves when it has told a line that starts like this. */
  heard(start: string): Promise<void>;
  kill(signal?: NodeJS.Signals): void;
}

/** Bundles the child's program, because the oldest supported Node does not run TypeScript. */
export async function prepareChildren(): Promise<(task: ChildTask) => Child> {
  const outfile = join(await temporaryDirectory(), "child.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("child.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    logLevel: "warning",
  });
  return (task) => startChild(outfile, task);
}

function startChild(program: string, task: ChildTask): Child {
  const limit = task.openFiles === undefined ? "" : `ulimit -n ${task.openFiles}; `;
  const child = spawn("sh", ["-c", `${limit}exec "$0" "$@"`, process.execPath, program, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const told: string[] = [];
  const listeners = new Set<() => void>();
  let rest = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    told.push(...lines);
    for (const listener of listeners) {
      listener();
    }
  });
  const ended = new Promise<number | string | null>((resolve) => {
    child.on("close", (code, signal) => resolve(signal ?? code));
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const heard = (start: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (told.some((line) => line.startsWith(start))) {
          listeners.delete(look);
          resolve();
        }
      };
      listeners.add(look);
      look();
      void ended.then((code) => reject(new Error(`the child ended with ${code} before it told "${start}"`)));
    });
  return { process: child, told, ended, heard, kill: (signal = "SIGKILL") => child.kill(signal) };
}
