import type {
  ChatAnswer,
  ChatFailure,
  ChatInterruption,
  OpenedChatClient,
  OpenOptions,
} from "@agentfw/provider-testing";
import { testChatClient } from "@agentfw/provider-testing/vitest";
import { OpenAIChatClient, OpenAIResponsesClient } from "../src/index.ts";
import type { LocalServer, ReceivedRequest } from "./strict/http.ts";
import type { Delivery } from "./strict/replies.ts";
import { startStrictResponsesServer } from "./strict-responses-server.ts";
import { startStrictServer } from "./strict-server.ts";

/** How the strict servers refuse, as the services do. */
const REFUSALS: Readonly<Record<ChatFailure, { readonly status: number; readonly body: object }>> = {
  unauthorized: { status: 401, body: { error: { code: "invalid_api_key" } } },
  busy: { status: 429, body: { error: { code: "rate_limit_exceeded" } } },
  failed: { status: 500, body: { error: { type: "server_error" } } },
  refused: { status: 400, body: { error: { code: "invalid_value" } } },
  too_long: { status: 400, body: { error: { code: "context_length_exceeded" } } },
};

const LONG = { text: "and so on ".repeat(1_000) };

const ENDINGS: Readonly<Record<Exclude<ChatInterruption, "silent">, Delivery>> = {
  stalled: { stallAfterBytes: 2_500 },
  cut: { cutAfterBytes: 2_500 },
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
  client: OpenedChatClient["client"],
  make: (options: object) => unknown,
): OpenedChatClient {
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
    close: () => service.close(),
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

for (const streaming of [true, false]) {
  const settings = { model: "test-model", apiKey: "test-key", maxRetries: 0, streaming };
  const name = streaming ? "streamed" : "in one piece";

  testChatClient({
    name: `Chat Completions, ${name}`,
    open: async ({ timeoutMs }: OpenOptions = {}) => {
      const service = await startChatService();
      const options = { ...settings, baseURL: service.baseURL, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
      return opened(service, new OpenAIChatClient(options), (wrong) => Reflect.construct(OpenAIChatClient, [wrong]));
    },
  });

  testChatClient({
    name: `Responses, ${name}`,
    open: async ({ timeoutMs }: OpenOptions = {}) => {
      const service = await startResponsesService();
      const options = { ...settings, baseURL: service.baseURL, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
      const make = (wrong: object) => Reflect.construct(OpenAIResponsesClient, [wrong]);
      return opened(service, new OpenAIResponsesClient(options), make);
    },
  });
}
