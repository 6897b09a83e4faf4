import {
  type Content,
  configurationError,
  type Message,
  type MessagesInput,
  messageFromJson,
  messagesFromInput,
  messageToJson,
  type Run,
} from "@agentfw/core";

/** The input as a run works with it, and what was left out of it. */
export interface RunInput {
  readonly messages: readonly Message[];
  /** Ids of messages without anything in them, which no model service takes. */
  readonly empty: readonly string[];
}

/**
 * The input with ids that derive from the run's, the time at which it came in, and every tool result in a message of
 * its own, so that it can be told apart from its fellows and from what else the caller says beside it.
 *
 * @throws `configuration` naming what does not fit, and for input that is empty through and through.
 */
export function runInput(input: MessagesInput, runId: string): RunInput {
  const createdAt = new Date().toISOString();
  const given = messagesFromInput(input, (index) => `${runId}:i${index}`, "input");
  const empty = given.filter(isEmpty).map(({ messageId }) => messageId);
  if (given.length > 0 && empty.length === given.length) {
    throw configurationError("input", "must hold more than blank text");
  }
  for (const [index, message] of given.entries()) {
    assertRole(message, index);
  }
  const full = empty.length === 0 ? given : given.filter((message) => !isEmpty(message));
  const stamped = full.map((message) => ({ createdAt, ...message }));
  return { messages: stamped.some(holdsResult) ? separated(stamped, given) : stamped, empty };
}

/** Nothing that a service would take: no contents at all, or blank text only. */
function isEmpty({ contents }: Message): boolean {
  return contents.every((content) => content.type === "text" && content.text.trim() === "");
}

function assertRole({ role, contents }: Message, index: number): void {
  if (role !== "assistant" && contents.some(({ type }) => type === "function_call")) {
    throw configurationError(`input[${index}].role`, "must be assistant for a message with a function_call");
  }
  if (role === "tool" && !contents.some(isResult)) {
    throw configurationError(`input[${index}].contents`, "must hold a function_result in a tool message");
  }
}

function isResult({ type }: Content): boolean {
  return type === "function_result";
}

function holdsResult({ contents }: Message): boolean {
  return contents.some(isResult);
}

/** Parts get ids behind the message's own, with as many marks as it takes to be nobody else's. */
function separated(messages: readonly Message[], given: readonly Message[]): Message[] {
  const taken = new Set(given.map(({ messageId }) => messageId));
  return messages.flatMap((message) => (holdsResult(message) ? parts(message, taken) : [message]));
}

function parts(message: Message, taken: Set<string>): Message[] {
  const groups: Content[][] = [];
  let isOpen = false;
  for (const content of message.contents) {
    const last = groups.at(-1);
    if (isOpen && last !== undefined && !isResult(content)) {
      last.push(content);
    } else {
      groups.push([content]);
    }
    isOpen = !isResult(content);
  }
  const { messageId } = message;
  const otherRole = message.role === "tool" ? "user" : message.role;
  return groups.map((contents, index) => ({
    ...message,
    role: contents.some(isResult) ? "tool" : otherRole,
    messageId: index === 0 ? messageId : freeId(`${messageId}#${index}`, taken),
    contents,
  }));
}

function freeId(wanted: string, taken: Set<string>): string {
  let id = wanted;
  while (taken.has(id)) {
    id += "#";
  }
  taken.add(id);
  return id;
}

/**
 * The ids of input messages in whose place a stored message counts that says something else: the name of the run was
 * given to another one before.
 */
export function replacedInput({ contributions, options }: Run): string[] {
  const stored = new Map(
    contributions
      .filter(({ isHistory }) => isHistory)
      .flatMap(({ messages }) => messages.map((message) => [message.messageId, message] as const)),
  );
  const prefix = `${options.runId}:i`;
  return options.input
    .filter(({ messageId }) => messageId.startsWith(prefix))
    .filter((message) => {
      const other = stored.get(message.messageId);
      return other !== undefined && saying(other) !== saying(message);
    })
    .map(({ messageId }) => messageId);
}

/** What a message says, as a text that is the same before it was stored and afterwards. */
function saying({ role, contents }: Message): string {
  const message: Message = { messageId: "", role, contents };
  return JSON.stringify(messageToJson(messageFromJson(messageToJson(message))));
}
