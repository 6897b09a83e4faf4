import type { ChatClient } from "@agentfw/core";
import { OpenAIChatClient, OpenAIResponsesClient } from "@agentfw/openai";
import { type AnsweredCall, startStrictResponsesServer, startStrictServer } from "@agentfw/test-servers/openai";

/** What a service is to say, in this order. */
export interface Said {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly AnsweredCall[];
}

/** A model service that refuses what the real one refuses, spoken to over HTTP. It says "Hello." unless told otherwise. */
export interface Service {
  readonly client: ChatClient;
  /** The last request's body. */
  readonly lastRequest: unknown;
  say(...answers: Said[]): void;
  close(): Promise<void>;
}

/** Both APIs, where conversations are kept by us. */
export const SERVICES: Readonly<Record<string, (streaming: boolean) => Promise<Service>>> = {
  async "Chat Completions"(streaming) {
    const server = await startStrictServer();
    const { baseURL, apiKey } = server;
    return {
      client: new OpenAIChatClient({ model: "test-model", apiKey, baseURL, maxRetries: 0, streaming }),
      get lastRequest() {
        return server.requests.at(-1)?.body;
      },
      say: (...answers) =>
        server.reply(
          ...answers.map(({ reasoning, text, calls }) => ({ answer: { reasoning, text, toolCalls: calls } })),
        ),
      close: () => server.close(),
    };
  },
  async Responses(streaming) {
    const server = await startStrictResponsesServer();
    const { baseURL, apiKey } = server;
    const settings = { model: "test-model", apiKey, baseURL, maxRetries: 0, streaming, store: false };
    return {
      client: new OpenAIResponsesClient(settings),
      get lastRequest() {
        return server.requests.at(-1)?.body;
      },
      say: (...answers) => server.reply(...answers.map((said) => ({ items: itemsOf(said) }))),
      close: () => server.close(),
    };
  },
};

function itemsOf({ reasoning, text, calls = [] }: Said) {
  return [
    ...(reasoning === undefined ? [] : [{ reasoning }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map((call) => ({ call })),
  ];
}
