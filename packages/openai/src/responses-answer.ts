import { type ChatUpdate, type Content, type FunctionCallContent, toJson, type UsageDetails } from "@agentfw/core";
import { type Fields, fields, isoTime, list, optionalFields, text, usageDetails } from "./answer-fields.ts";
import { brokenAnswer, failedAnswer } from "./errors.ts";

/** A response, as it is at its end. */
export interface FinishedResponse {
  readonly id: string;
  readonly head: Partial<ChatUpdate>;
  readonly output: readonly Fields[];
  readonly finishReason: string;
  readonly usage: UsageDetails | undefined;
  /** The conversation that it was added to. */
  readonly conversationId: string | undefined;
}

/** What is known of a response from its beginning on; its message has its id. */
export function responseHead(response: Fields): Partial<ChatUpdate> {
  const id = text(response["id"]);
  const model = text(response["model"]);
  const createdAt = isoTime(response["created_at"]);
  return {
    ...(id === undefined ? {} : { messageId: id, responseId: id }),
    ...(model === undefined ? {} : { model }),
    ...(createdAt === undefined ? {} : { createdAt }),
  };
}

/**
 * Reads a response that has ended.
 *
 * @throws what the service reported in place of an answer, and `unavailable` for what is no ended response.
 */
export function finishedResponse(value: unknown, operation: string): FinishedResponse {
  const response = fields(value, "it is no response");
  const { status } = response;
  if (status === "failed") {
    throw failedAnswer(response["error"], operation);
  }
  if (status !== "completed" && status !== "incomplete") {
    throw brokenAnswer("the response has not come to its end");
  }
  const id = text(response["id"]);
  if (id === undefined) {
    throw brokenAnswer("the response has no id");
  }
  const output = list(response["output"], "its output is no list").map((item) => fields(item, "an item is no object"));
  return {
    id,
    head: responseHead(response),
    output,
    finishReason: finishReason(response, output),
    usage: usage(response["usage"]),
    conversationId: conversationId(response["conversation"]),
  };
}

function finishReason(response: Fields, output: readonly Fields[]): string {
  if (response["status"] === "incomplete") {
    const details = optionalFields(response["incomplete_details"], "its details are no object");
    const reason = text(details?.["reason"]);
    return reason === "max_output_tokens" ? "length" : (reason ?? "incomplete");
  }
  return output.some(({ type }) => type === "function_call") ? "tool_calls" : "stop";
}

function usage(value: unknown): UsageDetails | undefined {
  const counts = optionalFields(value, "its usage is no object");
  const input = optionalFields(counts?.["input_tokens_details"], "its usage is no object");
  const output = optionalFields(counts?.["output_tokens_details"], "its usage is no object");
  return usageDetails([
    ["inputTokenCount", counts?.["input_tokens"]],
    ["outputTokenCount", counts?.["output_tokens"]],
    ["totalTokenCount", counts?.["total_tokens"]],
    ["cachedInputTokenCount", input?.["cached_tokens"]],
    ["reasoningTokenCount", output?.["reasoning_tokens"]],
  ]);
}

function conversationId(value: unknown): string | undefined {
  return typeof value === "string" ? text(value) : text(optionalFields(value, "its conversation is no object")?.["id"]);
}

/** The call that an item is. @throws `unavailable` when it is none that could be answered. */
export function functionCall(item: Fields): FunctionCallContent {
  const callId = text(item["call_id"]);
  const name = text(item["name"]);
  if (callId === undefined || name === undefined) {
    throw brokenAnswer("a function call has no id or no name");
  }
  return { type: "function_call", callId, name, arguments: text(item["arguments"]) ?? "" };
}

/** The text of a message item, and whether it is what the model says instead of an answer. */
export function messageText(item: Fields): { readonly text: string; readonly isRefusal: boolean } {
  const parts = list(item["content"], "the content of a message is no list").map((part) =>
    fields(part, "a part of a message is no object"),
  );
  const texts = parts.map((part) => text(part["text"]) ?? text(part["refusal"]) ?? "");
  return { text: texts.join(""), isRefusal: parts.some(({ type }) => type === "refusal") };
}

/** The readable part of a reasoning item: its summary, or where servers give it, the reasoning itself. */
export function reasoningText(item: Fields): string {
  const parts = [
    ...list(item["summary"], "the summary of reasoning is no list"),
    ...list(item["content"], "the content of reasoning is no list"),
  ];
  return parts.map((part) => text(fields(part, "a part of reasoning is no object")["text"]) ?? "").join("\n\n");
}

/** What the service did itself: kept as it came. */
export function otherItem(item: Fields): Content {
  return { type: "unknown", raw: toJson(item, "item") };
}
