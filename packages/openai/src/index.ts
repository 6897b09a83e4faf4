export type {
  OpenAIApiKey,
  OpenAIConnectionOptions,
  OpenAILike,
  OpenAIOwnClientOptions,
  OpenAIRequestBody,
  OpenAIRequestOptions,
  OpenAIResponsesLike,
  OpenAIResponsesRequestBody,
  OpenAITransportOptions,
} from "./connection.ts";
export { type OpenAIEnvironmentOptions, openAIOptionsFromEnvironment } from "./environment.ts";
export { OpenAIChatClient } from "./openai-chat-client.ts";
export { OpenAIResponsesClient } from "./openai-responses-client.ts";
export type { OpenAIChatClientOptions, OpenAIChatSettings } from "./options.ts";
export type { OpenAIDefaultOptions } from "./request-options.ts";
export type { OpenAIResponsesClientOptions, OpenAIResponsesSettings } from "./responses-options.ts";
