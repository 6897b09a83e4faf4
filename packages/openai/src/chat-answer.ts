import { type Content, isPlainObject, type Json, toJson, type UsageDetails } from "@agentfw/core";
import { type Fields, fields, isoTime, list, optionalFields, text, usageDetails } from "./answer-fields.ts";
import { brokenAnswer } from "./errors.ts";
import type { ToolCallPiece } from "./tool-calls.ts";

/** A piece of an answer, checked: one chunk of a stream, or a whole completion. */
export interface AnswerPiece {
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly createdAt: string | undefined;
  readonly contents: readonly Content[];
  /** The text is what the model says instead of an answer. */
  readonly isRefusal: boolean;
  readonly toolCalls: readonly ToolCallPiece[];
  readonly finishReason: string | undefined;
  readonly usage: UsageDetails | undefined;
}

/**
 * Reads a chunk of a stream.
 *
 * @throws `unavailable` for what is no chunk.
 */
export function pieceFromChunk(value: unknown): AnswerPiece {
  const chunk = fields(value, "a chunk is no object");
  if (chunk["object"] === "error") {
    throw brokenAnswer("the service reported an error in the middle of it");
  }
  const choice = firstChoice(chunk);
  return piece(chunk, choice, optionalFields(choice?.["delta"], "a delta is no object") ?? {});
}

/**
 * Reads a completion.
 *
 * @throws `unavailable` for what is no completion with an answer in it.
 */
export function pieceFromCompletion(value: unknown): AnswerPiece {
  const completion = fields(value, "it is no completion");
  const choice = firstChoice(completion);
  if (choice === undefined) {
    throw brokenAnswer("the completion has no choice");
  }
  const answer = piece(completion, choice, fields(choice["message"], "the completion has no message"));
  // In a whole message every entry is a call of its own, and servers leave the index out.
  return { ...answer, toolCalls: answer.toolCalls.map((call, index) => ({ ...call, index })) };
}

function piece(answer: Fields, choice: Fields | undefined, message: Fields): AnswerPiece {
  const refusal = text(message["refusal"]);
  return {
    id: text(answer["id"]),
    model: text(answer["model"]),
    createdAt: isoTime(answer["created"]),
    contents: [...reasoningContents(message), ...textContents(message["content"]), ...textContents(refusal)],
    isRefusal: refusal !== undefined,
    toolCalls: toolCalls(message["tool_calls"]),
    finishReason: text(choice?.["finish_reason"]),
    usage: usage(answer["usage"]),
  };
}

/** The choice that is read; more are never asked for. Chunks that only count tokens have none. */
function firstChoice(answer: Fields): Fields | undefined {
  return list(answer["choices"], "its choices are no list")
    .map((choice) => fields(choice, "a choice is no object"))
    .find((choice) => choice["index"] === undefined || choice["index"] === 0);
}

/** Compatible servers write the model's reasoning under one of two names, some of them under both. */
function reasoningContents(message: Fields): Content[] {
  const reasoning = text(message["reasoning_content"]) ?? text(message["reasoning"]);
  return reasoning === undefined ? [] : [{ type: "text_reasoning", text: reasoning }];
}

function textContents(content: unknown): Content[] {
  if (content === undefined || content === null || content === "") {
    return [];
  }
  if (typeof content === "string") {
    return [{ type: "text", text: content }];
  }
  return list(content, "its content is neither text nor parts").flatMap((part) =>
    partContents(toJson(part, "content")),
  );
}

/** Some servers answer in parts. A part that is not known is kept as it came. */
function partContents(part: Json): Content[] {
  if (isPlainObject(part)) {
    const { type, text: value, thinking } = part;
    if (type === "text" && typeof value === "string") {
      return textContents(value);
    }
    if (type === "thinking") {
      const inner = typeof thinking === "string" ? thinking : partsText(thinking);
      return inner === "" ? [] : [{ type: "text_reasoning", text: inner }];
    }
  }
  return [{ type: "unknown", raw: part }];
}

function partsText(parts: unknown): string {
  const entries: readonly unknown[] = Array.isArray(parts) ? parts : [];
  return entries.map((part) => (isPlainObject(part) ? (text(part["text"]) ?? "") : "")).join("");
}

function toolCalls(value: unknown): ToolCallPiece[] {
  return list(value, "its tool calls are no list").map((entry) => {
    const call = fields(entry, "a tool call is no object");
    const called = fields(call["function"], "a tool call calls no function");
    return {
      index: typeof call["index"] === "number" ? call["index"] : undefined,
      id: text(call["id"]),
      name: text(called["name"]),
      arguments: argumentsText(called["arguments"]),
    };
  });
}

function argumentsText(value: unknown): string {
  if (value === undefined || value === null) {
    return "";
  }
  if (typeof value === "string") {
    return value;
  }
  // Some servers send the object itself.
  return JSON.stringify(fields(value, "the arguments of a tool call are neither text nor an object"));
}

function usage(value: unknown): UsageDetails | undefined {
  const counts = optionalFields(value, "its usage is no object");
  if (counts === undefined) {
    return undefined;
  }
  const input = optionalFields(counts["prompt_tokens_details"], "its usage is no object");
  const output = optionalFields(counts["completion_tokens_details"], "its usage is no object");
  return usageDetails([
    ["inputTokenCount", counts["prompt_tokens"]],
    ["outputTokenCount", counts["completion_tokens"]],
    ["totalTokenCount", counts["total_tokens"]],
    ["cachedInputTokenCount", input?.["cached_tokens"]],
    ["reasoningTokenCount", output?.["reasoning_tokens"]],
  ]);
}
