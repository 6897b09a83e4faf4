import { spawn } from "node:child_process";
import { ExplainedError } from "./errors.ts";

/** What became of a child process. */
export interface ChildOutcome {
  readonly pid: number;
  /** A process that a signal ended has code 128. */
  readonly code: number;
  /** Empty when the output went to the terminal. */
  readonly output: string;
  readonly errorOutput: string;
}

/** Runs this program again, in a process of its own, with its output on the same terminal. */
export function runAgain(args: readonly string[]): Promise<ChildOutcome> {
  return start(args, undefined);
}

/** Runs this program again, hands it a text on its standard input and collects what it writes. */
export function askAgain(args: readonly string[], input: string): Promise<ChildOutcome> {
  return start(args, input);
}

function start(args: readonly string[], input: string | undefined): Promise<ChildOutcome> {
  const [, program = ""] = process.argv;
  return new Promise((resolve, reject) => {
    const stdio = input === undefined ? (["ignore", "inherit", "inherit"] as const) : "pipe";
    const child = spawn(process.execPath, [program, ...args], {
      stdio: typeof stdio === "string" ? stdio : [...stdio],
    });
    const output: Buffer[] = [];
    const errorOutput: Buffer[] = [];
    child.stdout?.on("data", (piece: Buffer) => output.push(piece));
    child.stderr?.on("data", (piece: Buffer) => errorOutput.push(piece));
    child.on("error", (cause) => reject(new ExplainedError("a process could not be started", { cause })));
    child.on("close", (code) =>
      resolve({
        pid: child.pid ?? 0,
        code: code ?? 128,
        output: Buffer.concat(output).toString("utf8"),
        errorOutput: Buffer.concat(errorOutput).toString("utf8"),
      }),
    );
    // A child that ended early closes the pipe; its exit code tells why.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
