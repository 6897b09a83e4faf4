import type { Content } from "./content.ts";
import type { Message } from "./message.ts";
import {
  type GroupedMessages,
  groupMessages,
  groupSize,
  groupToMessages,
  isDangling,
  type MessageGroup,
  openCalls,
  standsAlone,
  withContents,
} from "./message-groups.ts";
import type { MessageLog, MessageLogPage } from "./message-log.ts";

/** Options of {@link loadWindow}. */
export interface WindowOptions {
  /** At most this many messages, unless the newest group alone is longer. */
  readonly maxMessages: number | undefined;
  readonly before?: string | undefined;
  readonly keepFirst?: boolean | undefined;
  /** Ids of calls and approval requests whose groups are needed however old they are. */
  readonly needed?: ReadonlySet<string> | undefined;
  /** True for messages of an earlier attempt at the run: where the window begins with them, all of them are in it. */
  readonly isOwn?: ((message: Message) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The part of a conversation that a run works with. */
export interface HistoryWindow {
  readonly first: Message | undefined;
  /** The messages from the cut on, as they are stored. */
  readonly messages: readonly Message[];
  /** The messages as groups; none when no message is tied to another. */
  readonly groups: readonly MessageGroup[];
  /** Results that have no call in the whole conversation. */
  readonly orphans: GroupedMessages["orphans"];
  readonly version: string;
  readonly hasOlder: boolean;
}

/**
 * Reads the newest whole groups of a conversation. One read is enough unless the newest group is longer than the
 * window or a needed group is older than it; then it pages back until they are whole.
 */
export async function loadWindow(log: MessageLog, options: WindowOptions): Promise<HistoryWindow> {
  const { maxMessages, needed = new Set(), isOwn = () => false, signal } = options;
  // One more than asked for: what stands before the window tells whether its first message has lost its reasoning.
  let last = maxMessages === undefined ? undefined : maxMessages + 1;
  const page = await log.read({ last, before: options.before, withFirst: options.keepFirst, signal });
  let { messages, older } = page;
  for (;;) {
    // Unreadable records that were skipped make a page short.
    const isFull = older === undefined || (maxMessages !== undefined && messages.length > maxMessages);
    if (isFull && needed.size === 0 && messages.every(standsAlone)) {
      return plainWindow({ ...page, messages, older }, maxMessages);
    }
    const { groups, orphans } = groupMessages(messages);
    const whole = older === undefined ? groups : groups.filter((group) => !mayLackReasoning(group));
    const chosen = reachingBack(whole, newestGroups(whole, maxMessages), isOwn);
    const cut = chosen[0]?.firstIndex ?? messages.length;
    const found = whole.filter((group) => group.firstIndex < cut && isNeeded(group, needed));
    const isMissing =
      [...needed].some((id) => !whole.some((group) => holds(group, id))) ||
      (chosen.length === whole.length && isOwnGroup(chosen[0], isOwn));
    if (older === undefined || (isFull && !chosen.every(isDangling) && !isMissing)) {
      const kept = messages.slice(cut);
      return {
        first: firstOutside(page.first, kept),
        messages: kept,
        groups: [...found, ...chosen],
        orphans: older === undefined ? orphans : [],
        version: page.version,
        hasOlder: older !== undefined || cut > 0,
      };
    }
    last = Math.max(messages.length, last ?? 0);
    const next = await log.read({ last, before: older, signal });
    messages = [...next.messages, ...messages];
    older = next.older;
  }
}

/** The stored messages of a window from the oldest group on with which they are no more than `count`. */
export function pageOf({ groups, messages }: HistoryWindow, count: number): readonly Message[] {
  const cut = groups[0]?.firstIndex ?? 0;
  const start = groups.findIndex((group) => messages.length + cut - group.firstIndex <= count);
  const kept = groups.slice(start);
  const first = kept[0];
  if (first === undefined) {
    return messages;
  }
  // Results of calls before the cut stay with them.
  const inside = new Set(kept.flatMap(groupToMessages).flatMap(({ contents }) => contents));
  const keep = (content: Content) => content.type !== "function_result" || inside.has(content);
  return messages.slice(first.firstIndex - cut).flatMap((message) => withContents(message, keep) ?? []);
}

/** Most conversations: the message at the edge was read for its reasoning only, and there is none. */
function plainWindow(
  { messages: read, first, version, older }: MessageLogPage,
  count: number | undefined,
): HistoryWindow {
  const messages = count === undefined ? read : read.slice(-count);
  return {
    first: firstOutside(first, messages),
    messages,
    groups: [],
    orphans: [],
    version,
    hasOlder: older !== undefined || messages.length < read.length,
  };
}

/** The newest groups that fit; the newest one that is not dangling always. */
export function newestGroups(groups: readonly MessageGroup[], maxMessages: number | undefined): MessageGroup[] {
  if (maxMessages === undefined) {
    return [...groups];
  }
  let room = maxMessages;
  let start = groups.length;
  while (start > 0) {
    const group = groups[start - 1];
    const size = group === undefined ? 0 : groupSize(group);
    if (size > room && room < maxMessages) {
      break;
    }
    room -= size;
    start -= 1;
  }
  return groups.slice(start);
}

/** A run that is taken up again needs what it was asked and did, however much that is. */
function reachingBack(
  groups: readonly MessageGroup[],
  chosen: readonly MessageGroup[],
  isOwn: (message: Message) => boolean,
): readonly MessageGroup[] {
  let start = groups.length - chosen.length;
  while (isOwnGroup(groups[start], isOwn) && isOwnGroup(groups[start - 1], isOwn)) {
    start -= 1;
  }
  return groups.slice(start);
}

function isOwnGroup(group: MessageGroup | undefined, isOwn: (message: Message) => boolean): boolean {
  return group?.items.some(({ message }) => isOwn(message)) ?? false;
}

/** At the edge of what was read, an assistant message may follow reasoning that was not read. */
function mayLackReasoning(group: MessageGroup): boolean {
  return group.firstIndex === 0 && group.items[0]?.message.role === "assistant";
}

function holds(group: MessageGroup, id: string): boolean {
  return group.items.some(({ message }) =>
    message.contents.some(
      (content) =>
        (content.type === "function_approval_request" && content.id === id) ||
        (content.type === "function_call" && content.callId === id),
    ),
  );
}

function isNeeded(group: MessageGroup, needed: ReadonlySet<string>): boolean {
  return openCalls(group).length > 0 && [...needed].some((id) => holds(group, id));
}

/** The first message of the conversation, when it stands by itself and is not in the window anyway. */
function firstOutside(first: Message | undefined, messages: readonly Message[]): Message | undefined {
  const isLeading = first !== undefined && first.role !== "assistant" && first.role !== "tool" && standsAlone(first);
  return isLeading && !messages.some(({ messageId }) => messageId === first.messageId) ? first : undefined;
}

/** The newest `count` messages on whole groups; a system message at the beginning stays and is not counted. */
export function keepNewest(messages: readonly Message[], count: number): Message[] {
  const [first] = messages;
  const leading = first?.role === "system" ? [first] : [];
  const { groups } = groupMessages(messages.slice(leading.length));
  return [...leading, ...newestGroups(groups, count).flatMap(groupToMessages)];
}
