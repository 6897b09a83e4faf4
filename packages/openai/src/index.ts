export type {
  OpenAIApiKey,
  OpenAIConnectionOptions,
  OpenAILike,
  OpenAIOwnClientOptions,
  OpenAIRequestBody,
  OpenAIRequestOptions,
  OpenAITransportOptions,
} from "./connection.ts";
export { type OpenAIEnvironmentOptions, openAIOptionsFromEnvironment } from "./environment.ts";
export { OpenAIChatClient } from "./openai-chat-client.ts";
export type { OpenAIChatClientOptions, OpenAIChatSettings } from "./options.ts";
export type { OpenAIDefaultOptions } from "./request-options.ts";
