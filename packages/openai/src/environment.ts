import { configurationError } from "@agentfw/core";

/** What {@link openAIOptionsFromEnvironment} found. A variable that is not set, or empty, gives no member. */
export interface OpenAIEnvironmentOptions {
  readonly apiKey: string;
  readonly baseURL?: string;
  readonly model?: string;
}

/**
 * The options that the usual variables name: `OPENAI_API_KEY`, and if set `OPENAI_BASE_URL` and `OPENAI_MODEL`. This is
 * the only place that reads them, and only when it is called. Spread the result behind your own defaults.
 *
 * @param environment Where the variables are. Default: `process.env`.
 * @throws `configuration` naming `OPENAI_API_KEY` when it is not set.
 */
export function openAIOptionsFromEnvironment(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): OpenAIEnvironmentOptions {
  const apiKey = environment["OPENAI_API_KEY"];
  const baseURL = environment["OPENAI_BASE_URL"];
  const model = environment["OPENAI_MODEL"];
  if (!apiKey) {
    throw configurationError("OPENAI_API_KEY", "must be set in the environment");
  }
  return { apiKey, ...(baseURL ? { baseURL } : {}), ...(model ? { model } : {}) };
}
