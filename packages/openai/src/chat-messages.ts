import type { Content, FunctionResultContent, Message, TextReasoningContent } from "@agentfw/core";
import { isForTheModel, type Refuse, refusalsOf, resultText } from "./message-contents.ts";
import { type UserPart, userPart } from "./user-parts.ts";

/** A text part of a message that has several. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** A tool call as a request carries it. */
export interface WireToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message as a request carries it. */
export type WireMessage =
  | { readonly role: "system" | "developer"; readonly content: string | readonly TextPart[] }
  | { readonly role: "user"; readonly content: string | readonly UserPart[] }
  | {
      readonly role: "assistant";
      readonly content: string | readonly TextPart[] | null;
      readonly tool_calls?: readonly WireToolCall[];
      readonly reasoning_content?: string;
      readonly reasoning?: string;
    }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** How messages are written; servers differ. */
export interface MessageFormat {
  readonly systemRole: "system" | "developer";
  readonly joinTexts: boolean;
  readonly reasoningField: "reasoning_content" | "reasoning" | undefined;
}

/**
 * The messages of a request, in order; a message with several tool results becomes several. A message in which nothing
 * is for the model is left out.
 *
 * @throws `unsupported` naming the message and the content that Chat Completions has no place for.
 */
export function toWireMessages(messages: readonly Message[], format: MessageFormat): WireMessage[] {
  return messages.flatMap((message, index) => {
    const contents = message.contents.filter(isForTheModel);
    const refuse = refusalsOf(message, index, "Chat Completions");
    return contents.length === 0 ? [] : wireMessage(message, contents, format, refuse);
  });
}

function wireMessage(
  message: Message,
  contents: readonly Content[],
  format: MessageFormat,
  refuse: Refuse,
): WireMessage[] {
  switch (message.role) {
    case "system": {
      const texts = contents.map((content) => (content.type === "text" ? content.text : refuse(content)));
      return [{ role: format.systemRole, content: textContent(texts, format) }];
    }
    case "user":
      return [{ role: "user", content: userContent(contents, format, refuse) }];
    case "assistant":
      return [assistantMessage(message, contents, format, refuse)];
    case "tool":
      return contents.map((content) =>
        content.type === "function_result" ? toolMessage(content) : refuse(content, " in a tool message"),
      );
  }
}

function userContent(
  contents: readonly Content[],
  format: MessageFormat,
  refuse: Refuse,
): string | readonly UserPart[] {
  const texts = contents.filter((content) => content.type === "text");
  if (texts.length === contents.length) {
    return textContent(
      texts.map((content) => content.text),
      format,
    );
  }
  // An empty text beside an image says nothing, and some servers refuse it.
  const parts = contents.filter((content) => content.type !== "text" || content.text !== "");
  return parts.map((content) => userPart(content, refuse));
}

function assistantMessage(
  message: Message,
  contents: readonly Content[],
  format: MessageFormat,
  refuse: Refuse,
): WireMessage {
  const texts: string[] = [];
  const calls: WireToolCall[] = [];
  for (const content of contents) {
    if (content.type === "text") {
      texts.push(content.text);
    } else if (content.type === "function_call") {
      const { callId, name, arguments: text } = content;
      calls.push({ id: callId, type: "function", function: { name, arguments: text } });
    } else {
      refuse(content, " in an assistant message");
    }
  }
  return {
    role: "assistant",
    content: texts.length === 0 ? null : textContent(texts, format),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...reasoning(message, format),
  };
}

function reasoning(message: Message, { reasoningField }: MessageFormat): Record<string, string> {
  if (reasoningField === undefined) {
    return {};
  }
  const texts = message.contents.filter(
    (content): content is TextReasoningContent => content.type === "text_reasoning",
  );
  const text = texts.map((content) => content.text ?? "").join("");
  return text === "" ? {} : { [reasoningField]: text };
}

/** One text is sent as a string, which every server takes; several keep their boundaries as parts. */
function textContent(texts: readonly string[], { joinTexts }: MessageFormat): string | readonly TextPart[] {
  const [first = "", ...others] = texts.filter((text) => text !== "");
  if (others.length === 0) {
    return first;
  }
  return joinTexts ? [first, ...others].join("\n") : [first, ...others].map((text) => ({ type: "text", text }));
}

function toolMessage(content: FunctionResultContent): WireMessage {
  return { role: "tool", tool_call_id: content.callId, content: resultText(content) };
}
