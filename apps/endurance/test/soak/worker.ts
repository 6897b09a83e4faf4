import { type ChildProcessByStdio, spawn } from "node:child_process";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Place } from "./places.ts";
import type { Job, Told } from "./protocol.ts";

/** Drivers that are no modules still want what they require. */
const BANNER = 'import { createRequire as r } from "node:module"; const require = r(import.meta.url);';

/** Bundles the child's program, because the oldest supported Node does not run TypeScript. */
export async function buildChild(directory: string): Promise<string> {
  const outfile = join(directory, "child.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("child.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    external: ["pg-native"],
    banner: { js: BANNER },
    logLevel: "warning",
  });
  return outfile;
}

/** Runs jobs one after another in a process, and in a new one when that has been killed. */
export class Worker {
  readonly #program: string;
  readonly #place: Place;
  readonly #onTold: (told: Told) => void;
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #settle: ((outcome: "ended" | "killed") => void) | undefined;
  kills = 0;

  constructor(program: string, place: Place, onTold: (told: Told) => void) {
    this.#program = program;
    this.#place = place;
    this.#onTold = onTold;
  }

  /** Resolves when the run has ended, or its process has. */
  run(job: Job): Promise<"ended" | "killed"> {
    this.#child ??= this.#start();
    const child = this.#child;
    return new Promise((resolve) => {
      this.#settle = resolve;
      child.stdin.write(`${JSON.stringify(job)}\n`);
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child !== undefined) {
      const closed = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await closed;
    }
  }

  #start(): ChildProcessByStdio<Writable, Readable, null> {
    const child = spawn(process.execPath, [this.#program, JSON.stringify(this.#place)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    let rest = "";
    child.stdin.on("error", () => undefined);
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        this.#hear(JSON.parse(line));
      }
    });
    // By then all that it has told is here.
    child.on("close", () => {
      this.#child = undefined;
      this.kills += this.#settle === undefined ? 0 : 1;
      this.#end("killed");
    });
    return child;
  }

  #hear(told: Told): void {
    this.#onTold(told);
    if (told.type === "done" || told.type === "failed") {
      this.#end("ended");
    }
  }

  #end(outcome: "ended" | "killed"): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(outcome);
  }
}
