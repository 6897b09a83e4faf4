import { type CallSlot, groupMessages, isPendingApproval, type Message, openCalls, type Run } from "@agentfw/core";

/** What an earlier attempt at a run stored. */
export interface EarlierAttempt {
  readonly messages: readonly Message[];
  /** Calls that have no result and wait for nobody's approval, by the message that they are in. */
  readonly open: readonly { readonly message: Message; readonly slots: readonly CallSlot[] }[];
  /** True when it ends as runs end: with the model's own words, a question to the user, or results that were the last. */
  readonly isAtEnd: boolean;
  /** True when it was given up and kept as far as it had come. */
  readonly isBrokenOff: boolean;
}

/** Finds in the loaded history what an earlier attempt at the same run stored; `undefined` when there is nothing. */
export function earlierAttempt(run: Run): EarlierAttempt | undefined {
  const history = run.contributions.filter(({ isHistory }) => isHistory);
  const messages = history
    .flatMap((contribution) => contribution.messages)
    .filter(({ messageId }) => outputNumber(run, messageId) !== undefined);
  const groups = groupMessages(messages).groups.filter((group) => !isPendingApproval(group));
  const open = groups
    .flatMap(({ items }) => items)
    .map(({ message, slots }) => ({
      message,
      slots: slots.filter(({ result }) => result === undefined),
    }));
  const last = messages.at(-1);
  if (last === undefined) {
    return undefined;
  }
  const isAnswered = groups.every((group) => openCalls(group).length === 0);
  return {
    messages,
    open: open.filter(({ slots }) => slots.length > 0),
    isAtEnd: isLast(messages) || (last.role === "assistant" && isAnswered && !isIncomplete(last)),
    isBrokenOff: messages.some(isIncomplete),
  };
}

/** True when the results at the end were not for the model to see: tools were off, or middleware ended the run. */
function isLast(messages: readonly Message[]): boolean {
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== "tool") + 1);
  return results.some(
    ({ contents, additionalProperties }) =>
      additionalProperties?.["terminated"] === true ||
      contents.some((content) => content.type === "function_result" && content.exception === "tools_off"),
  );
}

function isIncomplete({ contents, additionalProperties }: Message): boolean {
  const isInterrupted = contents.some(
    (content) => content.type === "function_result" && content.exception === "interrupted",
  );
  return isInterrupted || additionalProperties?.["incomplete"] === true;
}

/** The number of the next message that the model makes: above all that are known, the caller's among them. */
export function nextOutputNumber(run: Run): number {
  return run.modelInput().reduce((next, { messageId }) => Math.max(next, 1 + (outputNumber(run, messageId) ?? -1)), 0);
}

/** The number of a message that a run of this name made; a result counts as the message with its call. */
function outputNumber({ options }: Run, messageId: string): number | undefined {
  const prefix = `${options.runId}:o`;
  const digits = messageId.startsWith(prefix) ? /^\d+(?=\/|$)/.exec(messageId.slice(prefix.length))?.[0] : undefined;
  return digits === undefined ? undefined : Number(digits);
}
