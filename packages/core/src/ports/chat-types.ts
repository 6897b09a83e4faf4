import type { Content } from "../content.ts";
import type { Json } from "../json.ts";
import type { Role } from "../message.ts";

/** A tool as the model sees it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments object. */
  readonly parameters: Readonly<Record<string, Json>>;
}

/** Whether the model may, must not or must call tools, or which one it must call. */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** What the answer must look like: free text, any JSON object, or JSON that fits a schema. */
export type ResponseFormat =
  | "text"
  | "json"
  | { readonly name: string; readonly schema: Readonly<Record<string, Json>>; readonly strict?: boolean | undefined };

/** Options of one model call. A member that is `undefined` is left to the client or the service. */
export interface ChatOptions {
  readonly model?: string | undefined;
  readonly instructions?: string | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly responseFormat?: ResponseFormat | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly allowMultipleToolCalls?: boolean | undefined;
  /** The conversation that the service keeps. */
  readonly conversationId?: string | undefined;
  /** Whether the service is to keep the conversation; absent: the client's default. */
  readonly store?: boolean | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Passed to the service as it is, by clients that can. */
  readonly additionalProperties?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of a call as the client receives them. */
export interface ChatRequestOptions extends ChatOptions {
  readonly tools?: readonly ToolDefinition[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why the model stopped. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | (string & {});

/**
 * A piece of an answer. Text pieces that follow each other are joined. A `function_call` opens a call when it has a
 * name; with an empty name it continues the arguments of the call with the same id. A new `messageId` or `role` begins
 * a new message.
 */
export interface ChatUpdate {
  readonly contents?: readonly Content[] | undefined;
  readonly role?: Role | undefined;
  /** The service's own id of the message; kept as an additional property. */
  readonly messageId?: string | undefined;
  readonly authorName?: string | undefined;
  readonly responseId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly model?: string | undefined;
  readonly finishReason?: FinishReason | undefined;
  readonly createdAt?: string | undefined;
  readonly additionalProperties?: Readonly<Record<string, unknown>> | undefined;
}
