import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { ChildTask } from "./child.ts";

/** The driver is no module in part; bundled into one, it still wants what it requires. */
const BANNER = 'import { createRequire as r } from "node:module"; const require = r(import.meta.url);';

/** Runs tasks in processes of their own, which begin at the same moment, and gives their exit codes. */
export async function runTogether(tasks: readonly ChildTask[]): Promise<(number | null)[]> {
  const program = await bundle("child.ts");
  const children = tasks.map((task) => start(program, task));
  await Promise.all(children.map(({ ready }) => ready));
  for (const { begin } of children) {
    begin();
  }
  return Promise.all(children.map(({ ended }) => ended));
}

/** A process that can be killed in the middle of its task. */
export interface Killable {
  /** Ends it as a machine does that loses its power; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Begins a task in a process of its own. */
export async function runOne(task: ChildTask): Promise<Killable> {
  const { child, ended, ready, begin } = start(await bundle("child.ts"), task);
  await ready;
  begin();
  return {
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Runs a program of this folder in a process with environment variables of its own, and gives what it printed. */
export async function outputOf(name: string, env: Readonly<Record<string, string>>): Promise<string> {
  const program = await bundle(name);
  const child = spawn(process.execPath, [program], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const printed: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => printed.push(piece));
  await ended;
  return Buffer.concat(printed).toString("utf8");
}

interface Child {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly ready: Promise<unknown>;
  begin(): void;
}

function start(program: string, task: ChildTask): Child {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const ready = new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  return { child, ended, ready: Promise.race([ready, ended]), begin: () => void child.stdin.end("begin\n") };
}

/** The oldest supported Node runs no TypeScript. */
async function bundle(name: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "agentfw-history-blob-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const esbuild = createRequire(new URL("../../../../package.json", import.meta.url))("esbuild");
  const outfile = join(directory, "child.mjs");
  await esbuild.build({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    banner: { js: BANNER },
    logLevel: "warning",
  });
  return outfile;
}
