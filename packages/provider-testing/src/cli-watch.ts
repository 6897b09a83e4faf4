import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { type Ending, onInterruption } from "./cli-ending.ts";
import { CHANNELS, type RunEvent, type RunLimits, type RunRequest } from "./cli-events.ts";
import type { CliOutput } from "./cli-output.ts";
import type { RunRecord } from "./cli-record.ts";
import { CLOSE_TIMEOUT_MS } from "./run.ts";

/** How long a process may take for what takes no time, on a machine that is busy. */
const GRACE_MS = 5_000;

/** How the process that runs the clauses is started. */
export interface ChildStart {
  /** The script and its first arguments; the request follows. */
  readonly script: readonly string[];
  /** True when its standard output is to go where errors go. */
  readonly isStdoutTaken: boolean;
}

/**
 * Runs the clauses in a process of their own and watches it from outside. Resolves when it has ended, whatever the
 * store did to it: ended it, blocked it, or threw where nobody catches.
 */
export async function runInChild(
  request: RunRequest,
  record: RunRecord,
  output: CliOutput,
  { script, isStdoutTaken }: ChildStart,
): Promise<Ending> {
  const child = spawn(process.execPath, [...process.execArgv, ...script, JSON.stringify(request)], {
    stdio: ["inherit", isStdoutTaken ? 2 : "inherit", "inherit", "pipe", "pipe"],
  });
  const watch = new Watch(child, request, record);
  const stopListening = onInterruption(output, (by) => watch.end({ how: "interrupted", by }));
  try {
    return await watch.ended();
  } finally {
    stopListening();
  }
}

class Watch {
  readonly #child: ChildProcess;
  readonly #request: RunRequest;
  readonly #record: RunRecord;
  #lastSign = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** How it is to end, once that is known before the process has ended. */
  #ending: Ending | undefined;

  constructor(child: ChildProcess, request: RunRequest, record: RunRecord) {
    this.#child = child;
    this.#request = request;
    this.#record = record;
    const events = child.stdio[CHANNELS.events];
    if (events instanceof Readable) {
      createInterface({ input: events }).on("line", (line) => this.#take(line));
    }
    // Writing to a process that has ended is no failure of the command's.
    child.stdio[CHANNELS.control]?.on("error", () => {});
    this.#setLimit(GRACE_MS + request.limits.loadMs);
  }

  /** Asks the process to close what is open and to end; the second time it is ended at once. */
  end(ending: Ending): void {
    if (this.#ending !== undefined) {
      this.#kill();
      return;
    }
    this.#ending = ending;
    const control = this.#child.stdio[CHANNELS.control];
    if (control instanceof Writable) {
      control.write("end\n");
    }
    this.#after(GRACE_MS, () => this.#kill());
  }

  async ended(): Promise<Ending> {
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      this.#child.once("error", (error) => this.#couldNotStart(error, resolve));
      // What the process said last may still be on its way when it has ended.
      this.#child.once("close", (...how) => resolve(how));
    });
    clearTimeout(this.#timer);
    const { strays, refusal } = this.#record;
    if (strays !== undefined || refusal !== undefined) {
      return { how: "over" };
    }
    return this.#ending ?? { how: "broken off", why: this.#why(code, signal) };
  }

  #take(line: string): void {
    // Written by this package, over a pipe of its own.
    const event: RunEvent = JSON.parse(line);
    this.#lastSign = performance.now();
    this.#record.take(event);
    if (event.type === "closing") {
      this.#after(CLOSE_TIMEOUT_MS + GRACE_MS, () => this.#kill());
    } else if (event.type === "refused" || event.type === "done" || event.type === "exit") {
      this.#after(GRACE_MS, () => this.#kill());
    } else if (event.type !== "alive") {
      this.#setLimit(GRACE_MS + limitOf(event, this.#request.limits));
    }
  }

  /** The process keeps its limits itself. One that has not may still be closing what was open, or it is blocked. */
  #setLimit(limitMs: number): void {
    if (this.#ending === undefined) {
      this.#after(limitMs, () => {
        if (performance.now() - this.#lastSign < GRACE_MS) {
          this.#setLimit(GRACE_MS);
        } else {
          const why = `the process does not react any more ${this.#record.where}: a loop that never ends, most likely`;
          this.#ending = { how: "broken off", why };
          this.#kill();
        }
      });
    }
  }

  #after(milliseconds: number, run: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(run, milliseconds);
  }

  #kill(): void {
    this.#child.kill("SIGKILL");
  }

  #couldNotStart(error: Error, resolve: (how: [null, null]) => void): void {
    if (this.#child.pid === undefined) {
      this.#ending = { how: "broken off", why: `the process that runs the clauses did not start: ${error.message}` };
      resolve([null, null]);
    }
  }

  #why(code: number | null, signal: NodeJS.Signals | null): string {
    const { where, lastWords } = this.#record;
    const { uncaught, asked, exitAt } = lastWords;
    if (uncaught !== undefined) {
      return `something was thrown ${where} that nobody caught: ${uncaught}`;
    }
    if (asked !== undefined) {
      return `the process was asked to end ${where}, by ${asked}`;
    }
    if (signal !== null) {
      return `the process was ended by ${signal} ${where}`;
    }
    if (code === UNSETTLED) {
      return `the process waited ${where} for a promise that nothing is left to settle`;
    }
    return `the process ended ${where}, with code ${code}${exitAt === undefined ? "" : `, by process.exit at ${exitAt}`}`;
  }
}

/** How long what begins with this may take, as the process itself sees to it. */
function limitOf({ type }: RunEvent, { loadMs, openMs, clauseMs }: RunLimits): number {
  switch (type) {
    case "loading":
      return loadMs;
    case "opening":
      return openMs;
    case "clause":
      return clauseMs;
    default:
      return 0;
  }
}

/** Node's exit code for an await at the top level that nothing is left to settle. */
const UNSETTLED = 13;
