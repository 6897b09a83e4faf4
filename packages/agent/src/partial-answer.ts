import {
  groupMessages,
  groupToMessages,
  interruptedResult,
  isPendingApproval,
  type Message,
  openCalls,
  type Run,
} from "@agentfw/core";

/** What an answer that broke off leaves: text and reasoning, marked as incomplete; half a call is no call. */
export function unfinished(message: Message): Message[] {
  const contents = message.contents.filter((content) => !content.type.startsWith("function_"));
  return contents.length === 0 ? [] : [incomplete({ ...message, contents })];
}

/**
 * What the run made, with its results beside the calls that they answer. Calls whose tools were given up are closed, so
 * that what is kept loads as valid. What does not end in a question to the user is marked as incomplete, or a retry would
 * take it for the whole answer.
 */
export function partialOf(run: Run, draft: readonly Message[]): Message[] {
  const made = [...run.produced, ...draft];
  const own = new Set(made.map(({ messageId }) => messageId));
  // With what is before the run: a call that was approved in it stands there.
  const { groups } = groupMessages([...run.modelInput(), ...made]);
  const ours = groups.filter(({ items }) =>
    items.some(
      ({ message, slots }) =>
        own.has(message.messageId) || slots.some(({ result }) => own.has(result?.messageId ?? "")),
    ),
  );
  for (const slot of ours.filter((group) => !isPendingApproval(group)).flatMap(openCalls)) {
    slot.result = interruptedResult(slot);
    own.add(slot.resultId);
  }
  const kept = ours.flatMap(groupToMessages).filter(({ messageId }) => own.has(messageId));
  const last = kept.at(-1);
  const newest = ours.at(-1);
  if (last !== undefined && newest !== undefined && !isPendingApproval(newest)) {
    kept[kept.length - 1] = incomplete(last);
  }
  return kept;
}

function incomplete(message: Message): Message {
  return { ...message, additionalProperties: { ...message.additionalProperties, incomplete: true } };
}
