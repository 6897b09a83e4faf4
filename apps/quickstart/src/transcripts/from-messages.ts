import { type Content, type FunctionCallContent, type Json, type Message, messageToJson } from "@agentfw/core";
import { contentMarks, type MessageMarks, messageMarks } from "./marks.ts";
import { type Members, membersOf } from "./recording.ts";

/** Stored messages in the form of a recording. Text, calls and results come from the contents and from nowhere else. */
export function fromMessages(messages: readonly Message[]): Members[] {
  let results: MessageMarks[] = [];
  return messages.map((message) => {
    const own = messageMarks(message.additionalProperties);
    if (message.role === "tool") {
      return fromResult(message, own, results.shift());
    }
    results = [...(own.results ?? [])];
    return fromMessage(message, own);
  });
}

function fromResult(message: Message, own: MessageMarks, ofLoop: MessageMarks | undefined): Members {
  const marks = message.additionalProperties === undefined ? (ofLoop ?? own) : own;
  const [content, ...more] = message.contents;
  if (content?.type !== "function_result" || more.length > 0) {
    return { role: "tool", contents: contentsJson(message.contents), ...marks.members };
  }
  const { callId, result, exception } = content;
  return {
    role: "tool",
    tool_call_id: callId,
    ...(marks.content === "absent" && result === null ? {} : { content: result }),
    // A result that the framework made itself is no recorded one.
    ...(exception === undefined ? {} : { exception }),
    ...marks.members,
  };
}

function fromMessage({ role, contents, authorName }: Message, marks: MessageMarks): Members {
  const texts: string[] = [];
  const parts: Json[] = [];
  const calls: Json[] = [];
  const others: Content[] = [];
  let refusal: string | undefined;
  for (const content of contents) {
    const part = partOf(content);
    const call = callOf(content);
    if (call !== undefined) {
      calls.push(call);
    } else if (part !== undefined) {
      parts.push(part);
    } else if (content.type === "text" && content.additionalProperties?.["refusal"] === true) {
      refusal = content.text;
    } else if (content.type === "text") {
      texts.push(content.text);
    } else if (!isNothing(content)) {
      others.push(content);
    }
  }
  return {
    role: role === "system" && marks.role === "developer" ? "developer" : role,
    ...contentOf(marks, texts, parts),
    ...(authorName === undefined ? {} : { name: authorName }),
    ...(refusal === undefined ? {} : { refusal }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(others.length === 0 ? {} : { contents: contentsJson(others) }),
    ...marks.members,
  };
}

function contentOf({ content: form, blank }: MessageMarks, texts: readonly string[], parts: readonly Json[]): Members {
  const [text = blank] = texts;
  if (form === "parts" || parts.length > 0 || texts.length > 1) {
    return { content: [...texts, ...parts] };
  }
  if (text !== undefined) {
    return { content: text };
  }
  return form === "null" ? { content: null } : {};
}

function isNothing(content: Content): boolean {
  return content.type === "unknown" && membersOf(content.raw)?.["nothing"] === true;
}

function partOf(content: Content): Json | undefined {
  const { part } = contentMarks(content);
  if (content.type === "unknown") {
    return membersOf(content.raw)?.["part"];
  }
  if (part === undefined) {
    return undefined;
  }
  if (content.type === "text") {
    return { ...part, text: content.text };
  }
  return content.type === "uri"
    ? { ...part, image_url: { ...membersOf(part["image_url"]), url: content.uri } }
    : undefined;
}

function callOf(content: Content): Json | undefined {
  if (content.type === "unknown") {
    return membersOf(content.raw)?.["call"];
  }
  if (content.type !== "function_call") {
    return undefined;
  }
  const { call = { type: "function" } } = contentMarks(content);
  return {
    ...call,
    id: content.callId,
    function: { ...membersOf(call["function"]), name: content.name, ...argumentsOf(content) },
  };
}

function argumentsOf(content: FunctionCallContent): Members {
  const { arguments: form } = contentMarks(content);
  if (form === "absent" && content.arguments === "") {
    return {};
  }
  try {
    return { arguments: form === "json" ? JSON.parse(content.arguments) : content.arguments };
  } catch {
    // Changed since it was stored; as a text it differs from what was recorded, which is the truth.
    return { arguments: content.arguments };
  }
}

/** Contents that no recording has, as they are stored. */
function contentsJson(contents: readonly Content[]): Json {
  return membersOf(messageToJson({ role: "assistant", messageId: "", contents }))?.["contents"] ?? null;
}
