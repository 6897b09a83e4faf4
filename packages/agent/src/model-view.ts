import {
  type Content,
  type GroupedMessages,
  groupMessages,
  groupToMessages,
  interruptedResult,
  isDangling,
  isPendingApproval,
  type Message,
  type MessageGroup,
  openCalls,
  standsAlone,
} from "@agentfw/core";

/** What was left out or added so that a model accepts the messages. */
export interface ModelViewRepair {
  readonly type: "open_call_closed" | "orphan_result_dropped";
  readonly messageId: string;
  readonly callId: string;
}

/**
 * The messages as a model may see them: every call with its results right behind it, no approval contents, nothing of
 * a group that waits for approval but its text, no reasoning that led to nothing, no result without a call, nothing
 * empty.
 */
export function modelView(
  messages: readonly Message[],
  onRepair: (repair: ModelViewRepair) => void,
): readonly Message[] {
  const view = messages.every(standsAlone) ? messages : pairedView(messages, onRepair);
  return view.every(isFilled) ? view : view.flatMap((message) => withContents(message, (content) => !isBlank(content)));
}

function pairedView(messages: readonly Message[], onRepair: (repair: ModelViewRepair) => void): Message[] {
  const { groups, orphans } = groupMessages(messages);
  reportOrphans(orphans, onRepair);
  const last = groups.at(-1);
  return groups.flatMap((group) => {
    if (isDangling(group) && group !== last) {
      return [];
    }
    if (isPendingApproval(group)) {
      return pendingView(group);
    }
    for (const slot of openCalls(group)) {
      slot.result = interruptedResult(slot);
      onRepair({ type: "open_call_closed", messageId: slot.resultId, callId: slot.call.callId });
    }
    return groupToMessages(group);
  });
}

function reportOrphans(orphans: GroupedMessages["orphans"], onRepair: (repair: ModelViewRepair) => void): void {
  for (const { message, callId } of orphans) {
    onRepair({ type: "orphan_result_dropped", messageId: message.messageId, callId });
  }
}

/** Reasoning stays with the text that it led to and goes with the calls that it led to. */
function pendingView(group: MessageGroup): Message[] {
  return group.items.flatMap(({ message }) => {
    const { contents } = message;
    const isKept = (content: Content, index: number): boolean => {
      const next = contents.slice(index).find(({ type }) => type !== "text_reasoning");
      return content.type === "text_reasoning"
        ? next?.type === "text" && !isBlank(next)
        : !content.type.startsWith("function_");
    };
    const kept = contents.filter(isKept);
    return kept.length === 0 ? [] : [{ ...message, contents: kept }];
  });
}

function isFilled({ contents }: Message): boolean {
  return contents.length > 0 && !contents.some(isBlank);
}

/** Services refuse blank text, for good once it is in a history. */
function isBlank(content: Content): boolean {
  return content.type === "text" && content.text.trim() === "";
}

function withContents(message: Message, keep: (content: Content) => boolean): Message[] {
  const contents = message.contents.filter(keep);
  return contents.length === 0 ? [] : [{ ...message, contents }];
}

/** For a service that keeps the conversation: only what is new, without approval contents. */
export function newMessagesView(messages: readonly Message[]): Message[] {
  return messages.flatMap((message) =>
    withContents(message, (content) => !content.type.startsWith("function_approval_") && !isBlank(content)),
  );
}
