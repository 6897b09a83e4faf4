import { availableParallelism } from "node:os";
import { AgentSession } from "@agentfw/core";
import type { Backend, OpenBackend } from "../backends/backend.ts";
import { openBackend } from "../backends/index.ts";
import { UsageError } from "../errors.ts";
import { command, DEFAULT_SESSION, type Options, optionsFor } from "../options.ts";
import { count, print } from "../terminal.ts";
import { ConversationJob, type ConversationOutcome, sessionIdOf } from "./conversation-job.ts";
import { startProgress } from "./progress.ts";
import { type RecordingLine, recordingLines } from "./recording-lines.ts";
import { summarize } from "./summary.ts";

/** Replays every conversation of a file, or checks an earlier replay, and says what differs. Exit code 1 if anything does. */
export async function replayTranscripts(options: Options): Promise<number> {
  const start = performance.now();
  const backend = await openBackend(options);
  try {
    if (options.check && backend.isInSession) {
      throw new UsageError(
        `--check finds nothing: with --backend ${options.backend} all is forgotten with the process`,
      );
    }
    const lines = await recordingLines(options.transcripts);
    await assertReachable(backend, options);
    print(
      `${options.check ? "Comparing" : "Replaying"} ${count(lines.length, "conversation")} of ${options.transcripts}`,
    );
    print(`  Stored in  ${backend.place}, owner ${options.owner}`);
    print(`  Sessions   ${sessionIdOf(options.replay, lines[0]?.number ?? 1)} and so on, by line number\n`);
    const outcomes = await runJobs(lines, options, backend);
    const isEqual = summarize(outcomes, options, (performance.now() - start) / 1000);
    if (backend.howToKeep === undefined) {
      print(`\nCompare again  ${checkCommand(options)}`);
    }
    return isEqual ? 0 : 1;
  } finally {
    await backend.close();
  }
}

/** A store that is away fails here, once, and not at every line. No line has the number of this session. */
async function assertReachable(backend: OpenBackend, { replay, owner }: Options): Promise<void> {
  await backend.provider().getMessages(new AgentSession({ sessionId: sessionIdOf(replay, 0), owner }));
}

function checkCommand(options: Options): string {
  const { transcripts, replay } = options;
  const where = optionsFor({ ...options, session: DEFAULT_SESSION });
  return command("--transcripts", transcripts, "--replay", replay, "--check", ...where);
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
