import type {
  ChatAnswer,
  ChatFailure,
  ChatInterruption,
  OpenedChatClient,
  OpenOptions,
} from "@agentfw/provider-testing";
import { type FaultProxy, faultHooks, startFaultProxy } from "@agentfw/provider-testing/faults";
import { testChatClient } from "@agentfw/provider-testing/vitest";
import {
  type Delivery,
  type LocalServer,
  type ReceivedRequest,
  startStrictResponsesServer,
  startStrictServer,
} from "@agentfw/test-servers/openai";
import { OpenAIChatClient, OpenAIResponsesClient } from "../src/index.ts";

/** How the strict servers refuse, as the services do. */
const REFUSALS: Readonly<Record<ChatFailure, { readonly status: number; readonly body: object }>> = {
  unauthorized: { status: 401, body: { error: { code: "invalid_api_key" } } },
  busy: { status: 429, body: { error: { code: "rate_limit_exceeded" } } },
  failed: { status: 500, body: { error: { type: "server_error" } } },
  refused: { status: 400, body: { error: { code: "invalid_value" } } },
  too_long: { status: 400, body: { error: { code: "context_length_exceeded" } } },
};

const LONG = { text: "and so on ".repeat(1_000) };

/** Behind the first pieces of text of either API. */
const ENDINGS: Readonly<Record<Exclude<ChatInterruption, "silent">, Delivery>> = {
  stalled: { stallAfterBytes: 25_000 },
  cut: { cutAfterBytes: 25_000 },
};

/** A strict server, told what to answer in the words of the contract. */
interface Service extends LocalServer {
  readonly requests: readonly ReceivedRequest[];
  answer(answer: ChatAnswer, delivery?: Delivery): void;
  reply(reply: "silence" | { readonly status: number; readonly body: object }): void;
}

const WRONG = {
  "no model": {},
  "an address that is none": { model: "m", baseURL: "nowhere" },
  "no time": { model: "m", timeoutMs: 0 },
};

function opened(
  service: Service,
  proxy: FaultProxy,
  client: OpenedChatClient["client"],
  make: (options: object) => unknown,
): OpenedChatClient {
  const { breakBackend, healBackend } = faultHooks(proxy);
  let open = 0;
  let counted = 0;
  const count = () => {
    for (const { outcome } of service.requests.slice(counted)) {
      open += 1;
      void outcome.then(() => {
        open -= 1;
      });
    }
    counted = service.requests.length;
  };
  return {
    client,
    answerNext: (answer) => service.answer(answer),
    failNext: (failure) => service.reply(REFUSALS[failure]),
    interruptNext: (how) => (how === "silent" ? service.reply("silence") : service.answer(LONG, ENDINGS[how])),
    lastRequest: () => JSON.stringify(service.requests.at(-1)?.body),
    requests: async () => {
      count();
      // An outcome that is known already is heard of in the next turn.
      await new Promise((resolve) => setImmediate(resolve));
      return { received: counted, open };
    },
    wrongOptions: () => Object.fromEntries(Object.entries(WRONG).map(([name, options]) => [name, () => make(options)])),
    breakBackend,
    healBackend,
    close: async () => {
      await proxy.close();
      await service.close();
    },
  };
}

async function startChatService(): Promise<Service> {
  const server = await startStrictServer();
  return {
    ...server,
    answer: ({ text, calls = [], usage, isCutShort }, delivery) =>
      server.reply({
        answer: {
          text,
          toolCalls: calls.map(({ callId, ...call }) => ({ id: callId, ...call })),
          ...(isCutShort ? { finishReason: "length" } : {}),
          ...(usage === undefined
            ? {}
            : {
                usage: {
                  prompt_tokens: usage.inputTokens,
                  completion_tokens: usage.outputTokens,
                  total_tokens: usage.inputTokens + usage.outputTokens,
                },
              }),
        },
        delivery,
      }),
  };
}

async function startResponsesService(): Promise<Service> {
  const server = await startStrictResponsesServer();
  return {
    ...server,
    answer: ({ text, calls = [], usage, isCutShort }, delivery = {}) =>
      server.reply({
        answer: {
          items: [
            ...(text === undefined ? [] : [{ text }]),
            ...calls.map(({ callId, ...call }) => ({ call: { id: callId, ...call } })),
          ],
          ...(isCutShort ? { incomplete: "max_output_tokens" } : {}),
          ...(usage === undefined ? {} : { usage }),
        },
        delivery,
      }),
  };
}

/** A client that reaches its service through a proxy. */
async function open<Options extends object>(
  Client: new (options: Options) => OpenedChatClient["client"],
  service: Service,
  settings: Options,
  { timeoutMs }: OpenOptions = {},
): Promise<OpenedChatClient> {
  const proxy = await startFaultProxy({ port: Number(new URL(service.baseURL).port) });
  const baseURL = `http://127.0.0.1:${proxy.port}/v1`;
  const client = new Client({ ...settings, baseURL, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  return opened(service, proxy, client, (wrong) => Reflect.construct(Client, [wrong]));
}

for (const streaming of [true, false]) {
  const settings = { model: "test-model", apiKey: "test-key", maxRetries: 0, streaming };
  const name = streaming ? "streamed" : "in one piece";

  testChatClient({
    name: `Chat Completions, ${name}`,
    open: async (options) => open(OpenAIChatClient, await startChatService(), settings, options),
  });

  testChatClient({
    name: `Responses, ${name}`,
    open: async (options) => open(OpenAIResponsesClient, await startResponsesService(), settings, options),
  });
}
