import {
  type ChatOptions,
  type ChatRequestOptions,
  configurationError,
  isPlainObject,
  type Message,
  toJson,
} from "@agentfw/core";
import { unsupported } from "./errors.ts";
import {
  additional,
  assertToolChoice,
  callOptions,
  defined,
  metadataOf,
  type OpenAIDefaultOptions,
} from "./request-options.ts";
import { type InputItem, toInputItems } from "./responses-messages.ts";

/** How requests to the Responses API are written. */
export interface ResponsesFormat {
  readonly model: string;
  readonly store: boolean;
  readonly systemRole: "system" | "developer";
  readonly encryptedReasoning: boolean;
  readonly defaultOptions: OpenAIDefaultOptions;
}

/** The body of a request. */
export interface ResponsesBody {
  readonly model: string;
  readonly input: readonly InputItem[];
  readonly store: boolean;
  readonly stream: boolean;
  readonly conversation?: string;
  readonly previous_response_id?: string;
  readonly include?: readonly unknown[];
  readonly [parameter: string]: unknown;
}

/** What brings encrypted reasoning into an answer. */
export const ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** What the conversion itself decides on. */
const RESERVED = ["background", "conversation", "input", "previous_response_id", "store", "stream"];

/** Options without a parameter in this API. To leave them out would change the answer without a word. */
const WITHOUT_PLACE = ["frequencyPenalty", "presencePenalty", "seed", "stopSequences"] as const;

/**
 * The request for one answer.
 *
 * @throws `configuration` naming an option that cannot work, before anything is sent; `unsupported` for a content or an
 * option that the Responses API has no place for.
 */
export function responsesBody(
  messages: readonly Message[],
  given: ChatRequestOptions,
  format: ResponsesFormat,
  stream: boolean,
): ResponsesBody {
  const { tools: functions = [], ...options } = callOptions(given, format.defaultOptions);
  for (const name of WITHOUT_PLACE) {
    if (options[name] !== undefined) {
      throw unsupported(`options.${name}: the Responses API has no place for it`);
    }
  }
  const input = toInputItems(messages, format.systemRole);
  if (input.length === 0) {
    throw configurationError("messages", "must hold something for the model");
  }
  const { tools: hosted, include, ...further } = additional(options.additionalProperties, RESERVED);
  const tools = [...functionTools(functions), ...listOf(hosted, "tools")];
  const store = options.store ?? format.store;
  return {
    model: options.model ?? format.model,
    input,
    store,
    stream,
    ...conversation(options.conversationId),
    ...included(listOf(include, "include"), !store && format.encryptedReasoning),
    ...defined({ ...sampling(options), ...choices(options, tools) }),
    ...further,
  };
}

/** What a conversation is called in a request: services name their kinds of ids by the beginning of each. */
function conversation(id: string | undefined): { conversation?: string; previous_response_id?: string } {
  if (id === undefined) {
    return {};
  }
  if (typeof id !== "string" || id === "") {
    throw configurationError("options.conversationId", "must be a non-empty string");
  }
  return id.startsWith("conv") ? { conversation: id } : { previous_response_id: id };
}

function included(given: readonly unknown[], isEncrypted: boolean): { include?: readonly unknown[] } {
  const include = isEncrypted && !given.includes(ENCRYPTED_REASONING) ? [...given, ENCRYPTED_REASONING] : given;
  return include.length === 0 ? {} : { include };
}

function sampling(options: ChatOptions): Record<string, unknown> {
  const { instructions } = options;
  return {
    instructions: instructions === "" ? undefined : instructions,
    temperature: options.temperature,
    top_p: options.topP,
    max_output_tokens: options.maxOutputTokens,
    metadata: metadataOf(options),
    text: textFormat(options.responseFormat),
  };
}

function textFormat(format: ChatOptions["responseFormat"]): object | undefined {
  if (format === undefined || format === "text") {
    return undefined;
  }
  if (format === "json") {
    return { format: { type: "json_object" } };
  }
  const { name, schema, strict } = format;
  return { format: { type: "json_schema", name, schema, ...(strict === undefined ? {} : { strict }) } };
}

function functionTools(tools: NonNullable<ChatRequestOptions["tools"]>): object[] {
  toJson(tools, "options.tools");
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    name,
    ...(description === undefined ? {} : { description }),
    parameters,
    // Left out it means true here, and most schemas would be refused.
    strict: false,
  }));
}

function choices(options: ChatOptions, tools: readonly unknown[]): Record<string, unknown> {
  const { toolChoice, allowMultipleToolCalls } = options;
  assertToolChoice(options, tools);
  if (tools.length === 0) {
    return {};
  }
  return {
    tools,
    tool_choice: typeof toolChoice === "object" ? { type: "function", name: toolChoice.name } : toolChoice,
    parallel_tool_calls: allowMultipleToolCalls,
  };
}

/** Lists of the caller's that are added to ours in place of replacing them. */
function listOf(value: unknown, name: string): readonly unknown[] {
  if (value === undefined) {
    return [];
  }
  if (!Array.isArray(value) || (name === "tools" && !value.every(isPlainObject))) {
    throw configurationError(`options.additionalProperties.${name}`, "must be a list");
  }
  return value;
}
