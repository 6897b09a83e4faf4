import type { Content, FunctionCallContent, FunctionResultContent } from "./content.ts";

/** Who speaks. */
export type Role = "system" | "user" | "assistant" | "tool";

/** Where a message came from, when it is not the caller's own input or the model's answer. */
export interface Attribution {
  readonly sourceId: string;
  readonly sourceType: "history" | "context";
  /** Sessions that the content was drawn from, when it crosses sessions. */
  readonly originSessionIds?: readonly string[] | undefined;
}

/** One message of a conversation. Its identity is `messageId` alone, never its content. */
export interface Message {
  readonly role: Role;
  readonly contents: readonly Content[];
  readonly messageId: string;
  /** ISO 8601. Informative: it never decides the order. */
  readonly createdAt?: string | undefined;
  readonly authorName?: string | undefined;
  /** Set while a run is assembled; never stored. */
  readonly attribution?: Attribution | undefined;
  /** Never sent to the model service. JSON only. */
  readonly additionalProperties?: Readonly<Record<string, unknown>> | undefined;
}

/** What a caller may pass for a message: without an id one is made, and a string stands for text. */
export interface MessageInput {
  readonly role: Role;
  readonly contents: string | readonly (Content | string)[];
  readonly messageId?: string | undefined;
  readonly createdAt?: string | Date | undefined;
  readonly authorName?: string | undefined;
  readonly additionalProperties?: Readonly<Record<string, unknown>> | undefined;
}

/** The text contents of a message, joined without a separator. */
export function messageText(message: { readonly contents: readonly Content[] }): string {
  let text = "";
  for (const content of message.contents) {
    if (content.type === "text") {
      text += content.text;
    }
  }
  return text;
}

/** The tool calls in a message, in order. */
export function functionCalls(message: Message): FunctionCallContent[] {
  return message.contents.filter((content) => content.type === "function_call");
}

/** The tool results in a message, in order. */
export function functionResults(message: Message): FunctionResultContent[] {
  return message.contents.filter((content) => content.type === "function_result");
}

/**
 * The id of the message that holds the result of a call. Every writer of that result derives the same id, so the
 * first one wins and none is stored twice. `occurrence` tells apart calls of one message that share a call id; no two
 * calls of a message come to the same id, whatever characters their call ids hold.
 */
export function resultMessageId(callMessageId: string, callId: string, occurrence = 0): string {
  const isPlain = occurrence === 0 && !callId.startsWith("#");
  return isPlain ? `${callMessageId}/${callId}` : `${callMessageId}/#${occurrence}/${callId}`;
}
