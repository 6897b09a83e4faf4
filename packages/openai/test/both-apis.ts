import {
  type Delivery,
  eventsOf,
  outputItems,
  type ReceivedRequest,
  type Reply,
  type ResponsesReply,
  responseBody,
  says,
  streamOf,
} from "@agentfw/test-servers/openai";
import { OpenAIChatClient, OpenAIResponsesClient } from "../src/index.ts";
import { connect } from "./helpers.ts";
import { connectResponses } from "./responses-helpers.ts";

type EitherClient = OpenAIChatClient | OpenAIResponsesClient;

/** What both clients take. */
interface Settings {
  readonly apiKey?: string | (() => string | Promise<string>);
  readonly baseURL?: string;
  readonly organization?: string;
  readonly timeoutMs?: number;
  readonly maxRetries?: number;
}

/** A server that can stand for either API. */
interface EitherServer {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly requests: readonly ReceivedRequest[];
  reply(reply: Answered): void;
  close(): Promise<void>;
}

/** What a server of either API does with a request. */
type Answered = Common | Prepared;
type Common = Extract<Reply & ResponsesReply, { status: number }> | "silence";

/** A reply that one of the APIs made for its own server. */
interface Prepared {
  readonly chat?: Reply;
  readonly responses?: ResponsesReply;
}

/** One of the two APIs, so that what holds for both is said once. */
export interface EitherApi {
  readonly name: string;
  connect(
    settings?: Settings,
    options?: { apiKey?: string | null; models?: readonly string[]; respond?: () => Answered },
  ): Promise<{ server: EitherServer; client: EitherClient }>;
  makeClient(settings: Settings): EitherClient;
  /** A whole answer. */
  answer(text: string, delivery?: Delivery): Prepared;
  /** A stream that gives one piece and then stays silent. */
  halfAnswer(): Prepared;
}

function unpacked<Own>(reply: Answered, own: (prepared: Prepared) => Own | undefined): Own | Common {
  if (reply === "silence" || "status" in reply) {
    return reply;
  }
  const prepared = own(reply);
  if (prepared === undefined) {
    throw new Error("a reply of the other API");
  }
  return prepared;
}

/** A start and something behind it that never comes. */
function stalled(start: string) {
  return { stream: [start, "data: never sent"], delivery: { stallAfterBytes: Buffer.byteLength(start) } };
}

const CHAT: EitherApi = {
  name: "Chat Completions",
  connect: async (settings = {}, { respond, ...options } = {}) => {
    const own = (reply: Answered) => unpacked(reply, ({ chat }) => chat);
    const { server, client } = await connect(settings, {
      ...options,
      ...(respond === undefined ? {} : { respond: () => own(respond()) }),
    });
    return { server: { ...server, reply: (reply) => server.reply(own(reply)) }, client };
  },
  makeClient: (settings) => new OpenAIChatClient({ model: "m", ...settings }),
  answer: (text, delivery) => ({ chat: { answer: { text }, delivery } }),
  halfAnswer: () => {
    const start = streamOf({ text: "first" }, "chatcmpl-1", "test-model", true).slice(0, 2);
    return { chat: stalled(start.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join("")) };
  },
};

const RESPONSES: EitherApi = {
  name: "Responses",
  connect: async (settings = {}, { respond, ...options } = {}) => {
    const own = (reply: Answered) => unpacked(reply, ({ responses }) => responses);
    const { server, client } = await connectResponses(settings, {
      ...options,
      ...(respond === undefined ? {} : { respond: () => own(respond()) }),
    });
    return { server: { ...server, reply: (reply) => server.reply(own(reply)) }, client };
  },
  makeClient: (settings) => new OpenAIResponsesClient({ model: "m", ...settings }),
  answer: (text, delivery = {}) => ({ responses: { answer: says(text), delivery } }),
  halfAnswer: () => {
    const output = outputItems(says("first"), 1, undefined);
    const events = eventsOf(responseBody(says("first"), "resp_1", { model: "m" }, output), output).slice(0, 5);
    return { responses: stalled(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")) };
  },
};

/** Both APIs. */
export const BOTH_APIS: readonly EitherApi[] = [CHAT, RESPONSES];
