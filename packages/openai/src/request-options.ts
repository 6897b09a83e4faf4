import { type ChatOptions, type ChatRequestOptions, configurationError, toJson } from "@agentfw/core";

/** Options of a call that a client may have of its own; those of the call go first. */
export type OpenAIDefaultOptions = Omit<ChatOptions, "conversationId" | "instructions" | "model">;

/**
 * The options of a call over the client's own.
 *
 * @throws `configuration` naming what JSON cannot hold.
 */
export function callOptions(given: ChatRequestOptions, defaults: OpenAIDefaultOptions): ChatRequestOptions {
  const { signal: _signal, tools, ...options } = given;
  const additionalProperties = { ...defaults.additionalProperties, ...options.additionalProperties };
  const merged = { ...defaults, ...defined(options), additionalProperties };
  toJson(merged, "options");
  return { ...merged, tools };
}

/** The members that are there. */
export function defined(members: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Metadata that says something. */
export function metadataOf({ metadata }: ChatOptions): ChatOptions["metadata"] {
  return metadata === undefined || Object.keys(metadata).length === 0 ? undefined : metadata;
}

/** @throws `configuration` for a choice that forces a call when there is no tool to call. */
export function assertToolChoice({ toolChoice }: ChatOptions, tools: readonly unknown[]): void {
  if (tools.length === 0 && toolChoice !== undefined && toolChoice !== "auto" && toolChoice !== "none") {
    throw configurationError("options.toolChoice", "must be auto or none when there are no tools");
  }
}

/**
 * Further parameters, as they are.
 *
 * @throws `configuration` naming one that the conversion itself decides on: another value would have the answer read
 * wrongly.
 */
export function additional(
  properties: ChatOptions["additionalProperties"],
  reserved: readonly string[],
): Readonly<Record<string, unknown>> {
  for (const name of reserved) {
    if (properties !== undefined && Object.hasOwn(properties, name)) {
      throw configurationError(`options.additionalProperties.${name}`, "must not be given; the client sets it");
    }
  }
  return properties ?? {};
}
