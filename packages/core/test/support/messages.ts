import type {
  Content,
  FunctionApprovalRequestContent,
  FunctionApprovalResponseContent,
  FunctionCallContent,
  FunctionResultContent,
  Json,
  Message,
} from "../../src/index.ts";

/** A user message of one text. */
export function user(messageId: string, text: string = messageId): Message {
  return { role: "user", messageId, contents: [{ type: "text", text }] };
}

/** A system message of one text. */
export function system(messageId: string, text: string = messageId): Message {
  return { role: "system", messageId, contents: [{ type: "text", text }] };
}

/** An assistant message; strings are texts. */
export function assistant(messageId: string, ...contents: readonly (Content | string)[]): Message {
  const parts = contents.length === 0 ? [messageId] : contents;
  return {
    role: "assistant",
    messageId,
    contents: parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)),
  };
}

/** An assistant message of reasoning alone. */
export function reasoning(messageId: string, text: string = messageId): Message {
  return { role: "assistant", messageId, contents: [{ type: "text_reasoning", text }] };
}

/** A message with the results of some calls. */
export function toolMessage(messageId: string, ...callIds: readonly string[]): Message {
  return { role: "tool", messageId, contents: callIds.map((callId) => result(callId)) };
}

/** The message with the result of a call, under the id that every writer of it derives. */
export function resultOf(callMessageId: string, callId: string, value: Json = `result of ${callId}`): Message {
  return { role: "tool", messageId: `${callMessageId}/${callId}`, contents: [result(callId, value)] };
}

export function call(callId: string, name = "look", args = "{}"): FunctionCallContent {
  return { type: "function_call", callId, name, arguments: args };
}

export function result(callId: string, value: Json = `result of ${callId}`): FunctionResultContent {
  return { type: "function_result", callId, result: value };
}

export function approvalRequest(id: string, functionCall: FunctionCallContent): FunctionApprovalRequestContent {
  return { type: "function_approval_request", id, functionCall };
}

export function approvalResponse(id: string, approved = true): FunctionApprovalResponseContent {
  return { type: "function_approval_response", id, approved };
}

export function ids(messages: readonly Message[]): string[] {
  return messages.map((message) => message.messageId);
}

/** Without what a run adds, to compare with what was stored. */
export function withoutAttribution(messages: readonly Message[]): Message[] {
  return messages.map(({ attribution: _, ...message }) => message);
}

/** Freezes a value and all that it holds, so that any write to it throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) {
      deepFreeze(member);
    }
  }
  return value;
}
