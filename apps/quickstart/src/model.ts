import type { ChatClient } from "@agentfw/core";
import { OfflineChatClient } from "./offline-chat-client.ts";
import type { ApiName } from "./options.ts";

/** Who answers. */
export interface Model {
  readonly client: ChatClient;
  /** Stands in front of answers. */
  readonly speaker: string;
  /** One line for people: what it is, and what it is not. */
  readonly description: string;
}

/**
 * A real model when there is a key for it, else the offline stand-in. Whichever API it is asked through, it keeps no
 * conversation: that is the backend's.
 */
export async function chooseModel(api: ApiName, environment: NodeJS.ProcessEnv = process.env): Promise<Model> {
  if (!environment["OPENAI_API_KEY"]) {
    const unused = environment["OPENAI_BASE_URL"] ? " (OPENAI_BASE_URL is set and not used, for want of a key)" : "";
    return {
      client: new OfflineChatClient({ delayMs: process.stdout.isTTY ? 15 : 0 }),
      speaker: "offline stand-in (not a model)",
      description:
        "an offline stand-in, not a model: it searches the messages that it is given. " +
        `Set OPENAI_API_KEY for a real one${unused}`,
    };
  }
  // Loaded when it is needed: the SDK is most of the program.
  const { OpenAIChatClient, OpenAIResponsesClient, openAIOptionsFromEnvironment } = await import("@agentfw/openai");
  const options = { model: "gpt-4o-mini", ...openAIOptionsFromEnvironment(environment) };
  const client =
    api === "responses" ? new OpenAIResponsesClient({ ...options, store: false }) : new OpenAIChatClient(options);
  const server = options.baseURL === undefined ? "OpenAI" : new URL(options.baseURL).host;
  return {
    client,
    speaker: "agent",
    description: `${options.model} at ${server}${api === "responses" ? ", through the Responses API" : ""}`,
  };
}
