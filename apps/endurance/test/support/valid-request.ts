import type { Message } from "@agentfw/core";

/**
 * What a strict model service refuses. Gives the first thing that is wrong, or `undefined`: every call has its results
 * right behind it, no result stands alone, no approval contents, nothing empty, no message twice.
 */
export function requestFault(messages: readonly Message[]): string | undefined {
  if (messages.length === 0) {
    return "there are no messages";
  }
  const ids = new Set<string>();
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const fault = messageFault(message, ids) ?? orderFault(message, open);
    if (fault !== undefined) {
      return `message ${index} (${message.role}): ${fault}`;
    }
    for (const content of message.contents) {
      if (content.type === "function_result") {
        open.splice(open.indexOf(content.callId), 1);
      }
    }
    open = [
      ...open,
      ...message.contents.flatMap((content) => (content.type === "function_call" ? [content.callId] : [])),
    ];
  }
  return open.length > 0 ? `call ${open[0]} has no result` : undefined;
}

function messageFault(message: Message, ids: Set<string>): string | undefined {
  if (ids.has(message.messageId)) {
    return `id ${message.messageId} came before`;
  }
  ids.add(message.messageId);
  if (message.contents.length === 0) {
    return "has no contents";
  }
  for (const content of message.contents) {
    if (content.type.startsWith("function_approval_")) {
      return "holds approval contents";
    }
    if (content.type === "text" && content.text.trim() === "") {
      return "holds a blank text";
    }
    if (content.type === "function_call" && message.role !== "assistant") {
      return "holds a call";
    }
  }
  return undefined;
}

function orderFault(message: Message, open: readonly string[]): string | undefined {
  const results = message.contents.flatMap((content) => (content.type === "function_result" ? [content.callId] : []));
  if (open.length > 0 && results.length === 0) {
    return `call ${open[0]} has no result right behind it`;
  }
  const orphan = results.find((callId) => !open.includes(callId));
  return orphan === undefined ? undefined : `result ${orphan} has no call`;
}
