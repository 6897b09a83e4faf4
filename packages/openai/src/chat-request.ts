import { type ChatOptions, type ChatRequestOptions, configurationError, type Message, toJson } from "@agentfw/core";
import { type MessageFormat, toWireMessages, type WireMessage } from "./chat-messages.ts";
import { unsupported } from "./errors.ts";
import {
  additional,
  assertToolChoice,
  callOptions,
  defined,
  metadataOf,
  type OpenAIDefaultOptions,
} from "./request-options.ts";

/** How requests are written. */
export interface RequestFormat extends MessageFormat {
  readonly model: string;
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
  readonly includeUsage: boolean;
  readonly defaultOptions: OpenAIDefaultOptions;
}

/** The body of a request. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly stream: boolean;
  readonly [parameter: string]: unknown;
}

/** What the conversion itself decides on. */
const RESERVED = ["messages", "n", "stream"];

/**
 * The request for one answer.
 *
 * @throws `configuration` naming an option that cannot work, before anything is sent; `unsupported` for a content or an
 * option that Chat Completions has no place for.
 */
export function chatBody(
  messages: readonly Message[],
  given: ChatRequestOptions,
  format: RequestFormat,
  stream: boolean,
): ChatBody {
  const { tools = [], ...options } = callOptions(given, format.defaultOptions);
  if (options.conversationId !== undefined) {
    throw unsupported("options.conversationId: Chat Completions keeps no conversations");
  }
  const wireMessages = [...instructionMessages(options, format), ...toWireMessages(messages, format)];
  if (wireMessages.length === 0) {
    throw configurationError("messages", "must hold something for the model, or come with instructions");
  }
  const parameters = {
    ...samplingParameters(options, format),
    response_format: responseFormat(options.responseFormat),
    ...toolParameters(options, tools),
    stream_options: stream && format.includeUsage ? { include_usage: true } : undefined,
  };
  return {
    model: options.model ?? format.model,
    messages: wireMessages,
    stream,
    ...defined(parameters),
    ...additional(options.additionalProperties, RESERVED),
  };
}

function instructionMessages({ instructions }: ChatOptions, { systemRole }: MessageFormat): WireMessage[] {
  return instructions === undefined || instructions === "" ? [] : [{ role: systemRole, content: instructions }];
}

function samplingParameters(options: ChatOptions, { maxTokensField }: RequestFormat): Record<string, unknown> {
  const { stopSequences } = options;
  return {
    temperature: options.temperature,
    top_p: options.topP,
    [maxTokensField]: options.maxOutputTokens,
    frequency_penalty: options.frequencyPenalty,
    presence_penalty: options.presencePenalty,
    stop: stopSequences === undefined || stopSequences.length === 0 ? undefined : stopSequences,
    seed: options.seed,
    store: options.store,
    metadata: metadataOf(options),
  };
}

function responseFormat(format: ChatOptions["responseFormat"]): object | undefined {
  if (format === undefined || format === "text") {
    // Free text is what every server answers by default, and not every server knows the parameter.
    return undefined;
  }
  if (format === "json") {
    return { type: "json_object" };
  }
  const { name, schema, strict } = format;
  return { type: "json_schema", json_schema: { name, schema, ...(strict === undefined ? {} : { strict }) } };
}

function toolParameters(
  options: ChatOptions,
  tools: NonNullable<ChatRequestOptions["tools"]>,
): Record<string, unknown> {
  const { toolChoice, allowMultipleToolCalls } = options;
  assertToolChoice(options, tools);
  if (tools.length === 0) {
    // The service refuses both parameters without tools, and without tools they say nothing.
    return {};
  }
  toJson(tools, "options.tools");
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, ...(description === undefined ? {} : { description }), parameters },
    })),
    tool_choice:
      typeof toolChoice === "object" ? { type: "function", function: { name: toolChoice.name } } : toolChoice,
    parallel_tool_calls: allowMultipleToolCalls,
  };
}
