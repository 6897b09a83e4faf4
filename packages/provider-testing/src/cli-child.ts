import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { SIGNALS } from "./cli-ending.ts";
import { CHANNELS, type RunEvent, type RunRequest } from "./cli-events.ts";
import { closeOpenSubjects } from "./cli-open-file.ts";
import { work } from "./cli-work.ts";

/**
 * The process that loads the file and runs the clauses. The command watches it from outside: whatever a store does to
 * its process, the command comes to its own end and says what happened.
 */
export async function runAsChild(request: RunRequest): Promise<void> {
  const stop = once((askedBy) => closeAndExit(askedBy));
  // A terminal tells every process of its group.
  for (const signal of SIGNALS) {
    process.on(signal, () => stop(signal));
  }
  process.on("exit", (code) => emitEvent({ type: "exit", code, at: callerOfExit() }));
  process.on("uncaughtException", (error: unknown) => {
    emitEvent({ type: "uncaught", text: textOf(error) });
    stop(undefined);
  });
  process.stdout.on("error", ignoreClosed);
  process.stderr.on("error", ignoreClosed);
  listen(stop);
  setInterval(() => emitEvent({ type: "alive" }), 1_000).unref();
  await work(request, emitEvent);
  // A store under test may leave connections open; they must not keep the command from ending.
  process.exit();
}

/** Written at once, so that it arrives whatever happens to the process next. */
function emitEvent(event: RunEvent): void {
  try {
    writeSync(CHANNELS.events, `${JSON.stringify(event)}\n`);
  } catch {
    // The command is gone, and with it who wanted to know.
  }
}

/** Whatever arrives, and the end of it when the command is gone, asks to stop. */
function listen(stop: (askedBy: string) => void): void {
  const control = new Socket({ fd: CHANNELS.control, readable: true, writable: false });
  for (const name of ["data", "end", "error"]) {
    control.on(name, () => stop("the command"));
  }
  // A file that waits for nothing that could come must end the process, and not be kept waiting by this.
  control.unref();
}

async function closeAndExit(askedBy: string | undefined): Promise<void> {
  emitEvent({ type: "closing", askedBy });
  await closeOpenSubjects();
  process.exit(1);
}

function once(run: (askedBy: string | undefined) => Promise<void>): (askedBy: string | undefined) => void {
  let isCalled = false;
  return (askedBy) => {
    if (!isCalled) {
      isCalled = true;
      void run(askedBy);
    }
  };
}

/** The first line of the stack that is neither Node's nor of this file: who called `process.exit()`, if anybody did. */
function callerOfExit(): string | undefined {
  const here: { readonly stack?: string } = {};
  Error.captureStackTrace(here);
  const lines = here.stack?.split("\n").slice(1) ?? [];
  const end = lines.findIndex((line) => /process\.exit |reallyExit/.test(line));
  const caller = end === -1 ? undefined : lines[end + 1];
  return caller?.trim().replace(/^at /, "");
}

function ignoreClosed(error: unknown): void {
  if (!(error instanceof Error) || Reflect.get(error, "code") !== "EPIPE") {
    throw error;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
