import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { ChildTask } from "./child.ts";
import { until } from "./faults.ts";

/** A process of its own that works on a store. */
export interface Child {
  /** The complete lines that it has told until now. */
  readonly told: readonly string[];
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<number | string | null>;
  /** Resolves when it has told this many lines. */
  heard(lines: number): Promise<void>;
  kill(): void;
}

/** The driver is no module; bundled into one, it still wants what it requires. */
const BANNER = 'import { createRequire as r } from "node:module"; const require = r(import.meta.url);';

/** Bundles the child's program, because the oldest supported Node does not run TypeScript. */
export async function prepareChildren(): Promise<(task: ChildTask) => Child> {
  const directory = await mkdtemp(join(tmpdir(), "agentfw-history-redis-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const esbuild = createRequire(new URL("../../../../package.json", import.meta.url))("esbuild");
  const outfile = join(directory, "child.mjs");
  await esbuild.build({
    entryPoints: [fileURLToPath(new URL("child.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    banner: { js: BANNER },
    logLevel: "warning",
  });
  return (task) => startChild(outfile, task);
}

function startChild(program: string, task: ChildTask): Child {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ["ignore", "pipe", "inherit"] });
  const told: string[] = [];
  let [rest, isOver] = ["", false];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    told.push(...lines);
  });
  const ended = new Promise<number | string | null>((resolve) => {
    child.on("close", (code, signal) => {
      isOver = true;
      resolve(signal ?? code);
    });
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    told,
    ended,
    kill: () => child.kill("SIGKILL"),
    heard: async (lines) => {
      await until(() => told.length >= lines || isOver);
      if (told.length < lines) {
        throw new Error(`the child ended with ${await ended} after ${told.length} lines`);
      }
    },
  };
}
