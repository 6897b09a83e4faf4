import { type Ending, onInterruption } from "./cli-ending.ts";
import type { RunRequest } from "./cli-events.ts";
import { closeOpenSubjects } from "./cli-open-file.ts";
import type { CliOutput } from "./cli-output.ts";
import type { RunRecord } from "./cli-record.ts";
import { work } from "./cli-work.ts";

/**
 * Runs the clauses in the command's own process: a debugger that listens there sees the store, and nothing ends what it
 * has stopped. `onExit` is called when the process is ended in the middle, and says with which code it is to end.
 */
export async function runHere(
  request: RunRequest,
  record: RunRecord,
  output: CliOutput,
  onExit: (ending: Ending) => number,
): Promise<Ending> {
  const guard = () => {
    process.exitCode = onExit({ how: "broken off", why: `the process ended ${record.where}` });
  };
  process.on("exit", guard);
  let stopListening = () => {};
  const interrupted = new Promise<Ending>((resolve) => {
    stopListening = onInterruption(output, (by) => {
      record.take({ type: "closing", askedBy: undefined });
      void closeOpenSubjects().then(() => resolve({ how: "interrupted", by }));
    });
  });
  const over = work(request, (event) => record.take(event)).then((): Ending => ({ how: "over" }));
  try {
    return await Promise.race([over, interrupted]);
  } finally {
    stopListening();
    process.off("exit", guard);
  }
}
