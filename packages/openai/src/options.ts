import { assertName, configurationError, isPlainObject } from "@agentfw/core";
import type { RequestFormat } from "./chat-request.ts";
import type { OpenAIConnectionOptions, OpenAIOwnClientOptions, OpenAITransportOptions } from "./connection.ts";
import { assertDefaultOptions, assertOneOf } from "./option-checks.ts";
import type { OpenAIDefaultOptions } from "./request-options.ts";

/** What is asked for, and how a server wants it written. The defaults are OpenAI's own. */
export interface OpenAIChatSettings extends OpenAITransportOptions {
  /** The model that is asked when a call names none. */
  readonly model: string;
  /** Options for calls that do not say otherwise; `additionalProperties` of both are merged. Default: none. */
  readonly defaultOptions?: OpenAIDefaultOptions | undefined;
  /** The role of instructions and system messages. Default: `system`. */
  readonly systemRole?: "system" | "developer" | undefined;
  /** The parameter for `maxOutputTokens`. Default: `max_completion_tokens`; older servers know `max_tokens` only. */
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens" | undefined;
  /** Whether answers are streamed. Default: true. */
  readonly streaming?: boolean | undefined;
  /** Whether token counts are asked for in streams. Default: true; some servers refuse `stream_options`. */
  readonly includeUsage?: boolean | undefined;
  /** Joins several texts of a message with line breaks, for servers that take no parts. Default: false. */
  readonly joinTexts?: boolean | undefined;
  /** The field in which the model's reasoning goes back to a server that asks for it. Default: it is not sent. */
  readonly reasoningField?: "reasoning_content" | "reasoning" | undefined;
}

/** Options of `OpenAIChatClient`: the settings, and either how to reach the service or a client of your own. */
export type OpenAIChatClientOptions = OpenAIChatSettings & (OpenAIConnectionOptions | OpenAIOwnClientOptions);

/**
 * The checked settings with their defaults.
 *
 * @throws `configuration` naming the option.
 */
export function requestFormat(options: OpenAIChatSettings): RequestFormat {
  if (!isPlainObject(options)) {
    throw configurationError("options", "must be an object");
  }
  const { model, systemRole, maxTokensField, includeUsage, joinTexts, reasoningField, defaultOptions } = options;
  assertName(model, "model");
  assertOneOf(systemRole, ["system", "developer"], "systemRole");
  assertOneOf(maxTokensField, ["max_completion_tokens", "max_tokens"], "maxTokensField");
  assertOneOf(reasoningField, ["reasoning_content", "reasoning"], "reasoningField");
  assertOneOf(options.streaming, [true, false], "streaming");
  assertOneOf(includeUsage, [true, false], "includeUsage");
  assertOneOf(joinTexts, [true, false], "joinTexts");
  assertDefaultOptions(defaultOptions, ["conversationId", "instructions", "model"]);
  return {
    model,
    systemRole: systemRole ?? "system",
    maxTokensField: maxTokensField ?? "max_completion_tokens",
    includeUsage: includeUsage ?? true,
    joinTexts: joinTexts ?? false,
    reasoningField,
    defaultOptions: defaultOptions ?? {},
  };
}
