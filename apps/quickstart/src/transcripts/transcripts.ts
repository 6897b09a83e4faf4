import { availableParallelism } from "node:os";
import type { Backend, OpenBackend } from "../backends/backend.ts";
import { openBackend } from "../backends/index.ts";
import type { Options } from "../options.ts";
import { count, print } from "../terminal.ts";
import { ConversationJob, type ConversationOutcome, sessionIdOf } from "./conversation-job.ts";
import { startProgress } from "./progress.ts";
import { type RecordingLine, recordingLines } from "./recording-lines.ts";
import { summarize } from "./summary.ts";

/** Replays every conversation of a file, or checks an earlier replay, and says what differs. Exit code 1 if anything does. */
export async function replayTranscripts(options: Options): Promise<number> {
  const start = performance.now();
  const lines = await recordingLines(options.transcripts);
  const backend = await openBackend(options);
  try {
    print(
      `${options.check ? "Comparing" : "Replaying"} ${count(lines.length, "conversation")} of ${options.transcripts}`,
    );
    print(`  Stored in  ${backend.place}, owner ${options.owner}`);
    print(`  Sessions   ${sessionIdOf(options.replay, lines[0]?.number ?? 1)} and so on, by line number\n`);
    const outcomes = await runJobs(lines, options, backend);
    return summarize(outcomes, options, (performance.now() - start) / 1000) ? 0 : 1;
  } finally {
    await backend.close();
  }
}

/** Conversations one after another; the processes that compare them run beside that, as many as there are cores. */
async function runJobs(
  lines: readonly RecordingLine[],
  options: Options,
  backend: Backend & OpenBackend,
): Promise<ConversationOutcome[]> {
  const progress = startProgress(lines.length);
  const limit = availableParallelism();
  const running = new Set<Promise<void>>();
  const outcomes: ConversationOutcome[] = [];
  for (const [index, line] of lines.entries()) {
    const job = new ConversationJob(line, options, backend);
    await job.store();
    while (running.size >= limit) {
      await Promise.race(running);
    }
    const verified: Promise<void> = job.verify().then((outcome) => {
      outcomes[index] = outcome;
      running.delete(verified);
      progress.step();
    });
    running.add(verified);
  }
  await Promise.all(running);
  progress.stop();
  return outcomes;
}
