import { assertName, configurationError, isPlainObject } from "@agentfw/core";
import type {
  OpenAIConnectionOptions,
  OpenAIOwnClientOptions,
  OpenAIResponsesLike,
  OpenAITransportOptions,
} from "./connection.ts";
import { assertDefaultOptions, assertOneOf } from "./option-checks.ts";
import type { OpenAIDefaultOptions } from "./request-options.ts";
import type { ResponsesFormat } from "./responses-request.ts";

/** What is asked for, and how a server wants it written. The defaults are OpenAI's own. */
export interface OpenAIResponsesSettings extends OpenAITransportOptions {
  /** The model that is asked when a call names none. */
  readonly model: string;
  /**
   * Whether the service keeps the conversations of calls that do not say otherwise. `false` keeps them in your own
   * history provider. Default: true.
   */
  readonly store?: boolean | undefined;
  /** Options for calls that do not say otherwise; `additionalProperties` of both are merged. Default: none. */
  readonly defaultOptions?: Omit<OpenAIDefaultOptions, "store"> | undefined;
  /** The role of system messages. Default: `system`. */
  readonly systemRole?: "system" | "developer" | undefined;
  /** Whether answers are streamed. Default: true. */
  readonly streaming?: boolean | undefined;
  /**
   * Asks for reasoning in its encrypted form where the service does not keep it, so that it can go back with what it led
   * to. Default: true; a model that has none is asked without it from its first refusal on.
   */
  readonly encryptedReasoning?: boolean | undefined;
}

/** Options of `OpenAIResponsesClient`: the settings, and either how to reach the service or a client of your own. */
export type OpenAIResponsesClientOptions = OpenAIResponsesSettings &
  (OpenAIConnectionOptions | OpenAIOwnClientOptions<OpenAIResponsesLike>);

/**
 * The checked settings with their defaults.
 *
 * @throws `configuration` naming the option.
 */
export function responsesFormat(options: OpenAIResponsesSettings): ResponsesFormat {
  if (!isPlainObject(options)) {
    throw configurationError("options", "must be an object");
  }
  const { model, store, systemRole, encryptedReasoning, defaultOptions } = options;
  assertName(model, "model");
  assertOneOf(store, [true, false], "store");
  assertOneOf(systemRole, ["system", "developer"], "systemRole");
  assertOneOf(options.streaming, [true, false], "streaming");
  assertOneOf(encryptedReasoning, [true, false], "encryptedReasoning");
  assertDefaultOptions(defaultOptions, ["conversationId", "instructions", "model", "store"]);
  return {
    model,
    store: store ?? true,
    systemRole: systemRole ?? "system",
    encryptedReasoning: encryptedReasoning ?? true,
    defaultOptions: defaultOptions ?? {},
  };
}
