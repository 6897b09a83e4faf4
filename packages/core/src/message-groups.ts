import type {
  Content,
  FunctionApprovalResponseContent,
  FunctionCallContent,
  FunctionResultContent,
} from "./content.ts";
import { functionCalls, type Message, resultMessageId } from "./message.ts";

/** One call of a group and what is known of its result. */
export interface CallSlot {
  /** The message that holds the call. */
  readonly message: Message;
  readonly call: FunctionCallContent;
  /** The id that the message with the result has, whoever writes it. */
  readonly resultId: string;
  result: Message | undefined;
}

/** Messages that a model takes together or not at all. */
export interface MessageGroup {
  /** Where its first message stands in the list that was grouped. */
  readonly firstIndex: number;
  /** Reasoning and the message that it led to, or a single message; each with the calls in it. */
  readonly items: { message: Message; readonly slots: CallSlot[] }[];
  /**
   * Answers to the approval requests in the group, by request id: the first one that answers the call as it was asked.
   * `message` holds this answer alone.
   */
  readonly responses: Map<string, { readonly message: Message; readonly content: FunctionApprovalResponseContent }>;
}

/** A list of messages as groups. */
export interface GroupedMessages {
  readonly groups: readonly MessageGroup[];
  /** Results without a call, by the message that holds them. */
  readonly orphans: readonly { readonly message: Message; readonly callId: string }[];
}

/** True when a message stands by itself: no call, result, approval or reasoning ties it to another. */
export function standsAlone(message: Message): boolean {
  for (const { type } of message.contents) {
    if (type.startsWith("function_") || type === "text_reasoning") {
      return false;
    }
  }
  return true;
}

/**
 * Groups messages: a message with its reasoning, and every tool result with its call, however far away it was stored.
 *
 * A result belongs to the call whose derived id its message has. Under an id of somebody else's it belongs to the first
 * open call with its call id in the newest message that has one, so call ids that a service repeats stay apart. Messages that hold nothing but approval answers join the group that asked.
 */
export function groupMessages(messages: readonly Message[]): GroupedMessages {
  const groups: MessageGroup[] = [];
  const orphans: { message: Message; callId: string }[] = [];
  const open: CallSlot[] = [];
  const requests = new Map<string, ApprovalRequest>();
  let reasoning: MessageGroup | undefined;
  for (const [index, whole] of messages.entries()) {
    const message = without(whole, "function_result");
    const slots = message === undefined ? [] : callSlots(message);
    const rest = message === undefined || slots.length > 0 ? message : placeResponses(message, requests);
    if (rest !== undefined) {
      const group = reasoning !== undefined && rest.role === "assistant" ? reasoning : newGroup(index, groups);
      group.items.push({ message: rest, slots });
      open.push(...slots);
      noteRequests(rest, group, requests);
      reasoning = isReasoningOnly(rest) ? group : undefined;
    }
    if (rest !== whole) {
      orphans.push(...placeResults(whole, open));
      reasoning = undefined;
    }
  }
  return { groups, orphans };
}

/** The message without the contents of a type; `undefined` when nothing else is in it. */
function without(message: Message, type: Content["type"]): Message | undefined {
  return withContents(message, (content) => content.type !== type);
}

/** The message with some of its contents; `undefined` without any. */
export function withContents(message: Message, keep: (content: Content) => boolean): Message | undefined {
  const contents = message.contents.filter(keep);
  if (contents.length === message.contents.length) {
    return message;
  }
  return contents.length === 0 ? undefined : { ...message, contents };
}

function newGroup(firstIndex: number, groups: MessageGroup[]): MessageGroup {
  const group: MessageGroup = { firstIndex, items: [], responses: new Map() };
  groups.push(group);
  return group;
}

/** The calls of a message, with the ids of their results; calls that share a call id are told apart by their order. */
export function callSlots(message: Message): CallSlot[] {
  const seen = new Map<string, number>();
  return functionCalls(message).map((call) => {
    const occurrence = seen.get(call.callId) ?? 0;
    seen.set(call.callId, occurrence + 1);
    return { message, call, resultId: resultMessageId(message.messageId, call.callId, occurrence), result: undefined };
  });
}

/** Puts the results of a message beside their calls; gives those that have none. */
function placeResults(message: Message, open: CallSlot[]): { message: Message; callId: string }[] {
  const orphans: { message: Message; callId: string }[] = [];
  for (const content of message.contents) {
    if (content.type !== "function_result") {
      continue;
    }
    const position = findSlot(open, message, content);
    const slot = open[position];
    if (slot === undefined) {
      orphans.push({ message, callId: content.callId });
    } else {
      const isAlone = message.contents.length === 1 && message.role === "tool";
      slot.result = isAlone ? message : { ...message, role: "tool", contents: [content] };
      open.splice(position, 1);
    }
  }
  return orphans;
}

function findSlot(open: readonly CallSlot[], { messageId }: Message, { callId }: FunctionResultContent): number {
  const exact = open.findIndex((slot) => slot.resultId === messageId && slot.call.callId === callId);
  if (exact >= 0 || messageId.endsWith(`/${callId}`)) {
    // An id like those we derive names its call; no other call with the same call id will do.
    return exact;
  }
  // The slots of a message stand together, in the order of its calls.
  const last = open.findLast((slot) => slot.call.callId === callId);
  return open.findIndex((slot) => slot.message === last?.message && slot.call.callId === callId);
}

interface ApprovalRequest {
  readonly group: MessageGroup;
  readonly call: FunctionCallContent;
}

function noteRequests(message: Message, group: MessageGroup, requests: Map<string, ApprovalRequest>): void {
  for (const content of message.role === "assistant" ? message.contents : []) {
    if (content.type === "function_approval_request") {
      requests.set(content.id, { group, call: content.functionCall });
    }
  }
}

/** Gives a person's answers to their groups and returns what else the message holds, if anything. */
function placeResponses(message: Message, requests: ReadonlyMap<string, ApprovalRequest>): Message | undefined {
  // What the model says is no answer, also when it looks like one.
  for (const content of message.role === "assistant" ? [] : message.contents) {
    const request = content.type === "function_approval_response" ? requests.get(content.id) : undefined;
    if (content.type === "function_approval_response" && request !== undefined && isAnswerTo(content, request.call)) {
      const { responses } = request.group;
      if (!responses.has(content.id)) {
        responses.set(content.id, { message: { ...message, contents: [content] }, content });
      }
    }
  }
  return without(message, "function_approval_response");
}

/** False for an answer to another call than the one that was asked about. */
export function isAnswerTo(response: FunctionApprovalResponseContent, asked: FunctionCallContent): boolean {
  const call = response.functionCall;
  return (
    call === undefined ||
    (call.callId === asked.callId && call.name === asked.name && call.arguments === asked.arguments)
  );
}

/** True for an assistant message of reasoning alone: it must not stand without the message that it led to. */
export function isReasoningOnly(message: Message): boolean {
  return (
    message.role === "assistant" &&
    message.contents.length > 0 &&
    message.contents.every((content) => content.type === "text_reasoning")
  );
}

/** True when the group is reasoning that led to nothing. */
export function isDangling(group: MessageGroup): boolean {
  const last = group.items.at(-1);
  return last !== undefined && isReasoningOnly(last.message);
}

/** True when a call of the group waits for a person: it was asked about, and nothing came of it yet. */
export function isPendingApproval(group: MessageGroup): boolean {
  return group.items.some(
    ({ message, slots }) =>
      message.role === "assistant" &&
      message.contents.some(
        (content) =>
          content.type === "function_approval_request" &&
          slots.some(({ resultId, result }) => resultId === content.id && result === undefined),
      ),
  );
}

/** The calls of a group that have no result. */
export function openCalls(group: MessageGroup): CallSlot[] {
  return group.items.flatMap(({ slots }) => slots.filter((slot) => slot.result === undefined));
}

/** How many messages the group comes to once its lost calls are closed; none when it is reasoning that led to nothing. */
export function groupSize(group: MessageGroup): number {
  if (isDangling(group)) {
    return 0;
  }
  return groupToMessages(group).length + (isPendingApproval(group) ? 0 : openCalls(group).length);
}

/**
 * The messages of a group, every result right behind its call. Requests for approval that were settled are left out;
 * those that are pending stay, with the answers that there are so far.
 */
export function groupToMessages(group: MessageGroup): Message[] {
  const pending = isPendingApproval(group);
  const messages: Message[] = [];
  for (const { message, slots } of group.items) {
    const kept = pending ? message : without(message, "function_approval_request");
    if (kept !== undefined) {
      messages.push(kept);
    }
    for (const { result } of slots) {
      if (result !== undefined) {
        messages.push(result);
      }
    }
  }
  if (pending) {
    messages.push(...[...group.responses.values()].map(({ message }) => message));
  }
  return messages;
}

/** The result that closes a call whose own result never came. */
export function interruptedResult(slot: CallSlot): Message {
  return {
    role: "tool",
    messageId: slot.resultId,
    contents: [
      {
        type: "function_result",
        callId: slot.call.callId,
        result: "The call was interrupted. Whether it took effect is unknown.",
        exception: "interrupted",
      },
    ],
  };
}
