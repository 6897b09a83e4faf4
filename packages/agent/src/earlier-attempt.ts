import { type CallSlot, groupMessages, isPendingApproval, type Message, openCalls, type Run } from "@agentfw/core";

/** What an earlier attempt at a run stored. */
export interface EarlierAttempt {
  readonly messages: readonly Message[];
  /** The number of the next message that the model makes. */
  readonly next: number;
  /** Calls that have no result and wait for nobody's approval, by the message that they are in. */
  readonly open: readonly { readonly message: Message; readonly slots: readonly CallSlot[] }[];
  /** True when it ends with the model's own words or with a question to the user. */
  readonly isAtEnd: boolean;
}

/** Finds in the loaded history what an earlier attempt at the same run stored; `undefined` when there is nothing. */
export function earlierAttempt(run: Run): EarlierAttempt | undefined {
  const prefix = `${run.options.runId}:o`;
  const messages: Message[] = [];
  let next = 0;
  for (const message of run.modelInput()) {
    const number = message.messageId.startsWith(prefix) ? numberOf(message.messageId.slice(prefix.length)) : undefined;
    if (number !== undefined) {
      messages.push(message);
      next = Math.max(next, number + 1);
    }
  }
  const groups = groupMessages(messages).groups.filter((group) => !isPendingApproval(group));
  const open = groups
    .flatMap(({ items }) => items)
    .map(({ message, slots }) => ({
      message,
      slots: slots.filter(({ result }) => result === undefined),
    }));
  const isAtEnd = messages.at(-1)?.role === "assistant" && groups.every((group) => openCalls(group).length === 0);
  return messages.length === 0
    ? undefined
    : { messages, next, open: open.filter(({ slots }) => slots.length > 0), isAtEnd };
}

/** The number in what follows the run's name in a message id: `3`, or `3/` and a call id in that of a result. */
function numberOf(rest: string): number | undefined {
  const digits = /^\d+(?=\/|$)/.exec(rest)?.[0];
  return digits === undefined ? undefined : Number(digits);
}
