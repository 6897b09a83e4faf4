import type { Message } from "../../src/index.ts";

/**
 * What a strict model service refuses, as sentences; empty when the messages are fine.
 *
 * Every call has exactly one result, right behind the message with the calls and before anything else; every result
 * has its call; reasoning stands right in front of an assistant message with something else in it. Calls of a message
 * with a request for approval may still wait for their results.
 */
export function violations(messages: readonly Message[]): string[] {
  const problems: string[] = [];
  let open: string[] = [];
  let isWaiting = false;
  let reasoningBefore: string | undefined;
  for (const message of messages) {
    const { messageId, contents, role } = message;
    const results = contents.flatMap((content) => (content.type === "function_result" ? [content.callId] : []));
    const calls = contents.flatMap((content) => (content.type === "function_call" ? [content.callId] : []));
    if (results.length > 0) {
      if (reasoningBefore !== undefined) {
        problems.push(`${reasoningBefore}: reasoning before a result`);
      }
      for (const callId of results) {
        const index = open.indexOf(callId);
        if (index < 0) {
          problems.push(`${messageId}: a result of ${callId} without an open call`);
        } else {
          open.splice(index, 1);
        }
      }
      if (results.length !== contents.length) {
        problems.push(`${messageId}: results beside other contents`);
      }
      reasoningBefore = undefined;
      continue;
    }
    if (open.length > 0 && !isWaiting) {
      problems.push(`${messageId}: comes before the results of ${open.join(", ")}`);
    }
    if (reasoningBefore !== undefined && role !== "assistant") {
      problems.push(`${reasoningBefore}: reasoning before a message that is not the model's`);
    }
    open = calls;
    isWaiting = contents.some((content) => content.type === "function_approval_request");
    const isReasoning = role === "assistant" && contents.every((content) => content.type === "text_reasoning");
    reasoningBefore = isReasoning && contents.length > 0 ? messageId : undefined;
  }
  if (open.length > 0 && !isWaiting) {
    problems.push(`the end: no results of ${open.join(", ")}`);
  }
  if (reasoningBefore !== undefined) {
    problems.push(`${reasoningBefore}: reasoning at the end`);
  }
  return problems;
}
