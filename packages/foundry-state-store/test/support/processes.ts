import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import type { ChildTask } from "./child.ts";
import { temporaryFolder } from "./folder.ts";

/** A process of its own that works on a store. */
export interface Child {
  /** The complete lines that it has told until now. */
  readonly told: readonly string[];
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<number | string | null>;
  kill(): void;
}

/** Bundles the child's program, because the oldest supported Node does not run TypeScript. */
export async function prepareChildren(): Promise<(task: ChildTask) => Child> {
  const outfile = join(await temporaryFolder(), "child.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("child.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "error",
  });
  return (task) => startChild(outfile, task);
}

function startChild(program: string, task: ChildTask): Child {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ["ignore", "pipe", "inherit"] });
  const told: string[] = [];
  let rest = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    told.push(...lines);
  });
  const ended = new Promise<number | string | null>((resolve) => {
    child.on("close", (code, signal) => resolve(signal ?? code));
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { told, ended, kill: () => void child.kill("SIGKILL") };
}
