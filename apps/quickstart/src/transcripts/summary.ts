import type { Options } from "../options.ts";
import { count, oneLine, print } from "../terminal.ts";
import type { ConversationOutcome } from "./conversation-job.ts";

const REPORTED_CONVERSATIONS = 10;

/** Prints what came out. True when everything is equal. */
export function summarize(outcomes: readonly ConversationOutcome[], options: Options, seconds: number): boolean {
  const failed = outcomes.filter(({ failure }) => failure !== undefined);
  const different = outcomes.filter(({ report }) => report !== undefined && report.differenceCount > 0);
  const bad = outcomes.filter(({ failure, report }) => failure !== undefined || report?.differenceCount !== 0);
  for (const outcome of bad.slice(0, REPORTED_CONVERSATIONS)) {
    describe(outcome);
  }
  if (bad.length > REPORTED_CONVERSATIONS) {
    print(`... and ${count(bad.length - REPORTED_CONVERSATIONS, "more conversation")} that failed or differ\n`);
  }
  const sum = (value: (outcome: ConversationOutcome) => number) =>
    outcomes.reduce((total, outcome) => total + value(outcome), 0);
  const calls = sum(({ plan }) => plan?.calls ?? 0);
  const loopCalls = sum(({ plan }) => plan?.loopCalls ?? 0);
  const differences = sum(({ report }) => report?.differenceCount ?? 0);
  const forModel = outcomes.filter(({ report }) => report?.comparedForModel).length;
  const asStored = outcomes.length - failed.length - forModel;
  print(`Conversations  ${outcomes.length}, of which ${outcomes.length - bad.length} load equal in a new process`);
  print(`Messages       ${sum(({ messages }) => messages)}`);
  if (options.check) {
    print(`Tool calls     ${calls}`);
  } else {
    print(`Runs           ${sum(({ plan }) => plan?.runs.length ?? 0)}`);
    print(`Tool calls     ${calls}, of which the function loop ran ${loopCalls}`);
  }
  print(`Compared       ${forModel} as stored and as a model is given them, ${asStored} as stored only`);
  print(`Differences    ${differences} in ${count(different.length, "conversation")}, ${failed.length} failed`);
  print(`Time           ${seconds.toFixed(1)} s`);
  return bad.length === 0;
}

function describe({ line, id, failure, report }: ConversationOutcome): void {
  const name = id === undefined ? `line ${line}` : `line ${line} (${oneLine(id, 60)})`;
  if (failure !== undefined) {
    print(`${name} failed: ${failure.trim()}\n`);
    return;
  }
  const { differences = [], differenceCount = 0 } = report ?? {};
  print(`${name} has ${count(differenceCount, "difference")}`);
  for (const text of differences) {
    print(`  ${text}`);
  }
  print(differenceCount > differences.length ? `  ... and ${differenceCount - differences.length} more\n` : "");
}
