import {
  type Fields,
  isFields,
  type ReceivedRequest,
  type Reply,
  startStrictServer,
} from "@agentfw/test-servers/openai";

/** The model service of all replicas of a test, which refuses what the real one refuses. */
export interface ChatModel {
  /** The variables that lead a replica to it. */
  readonly environment: Readonly<Record<string, string>>;
  /** The requests whose newest message of a user holds the text. */
  asked(text: string): ReceivedRequest[];
  /** What it does with a request whose newest message of a user holds the text. */
  on(text: string, reply: (request: ReceivedRequest) => Reply | Promise<Reply>): void;
  close(): Promise<void>;
}

/**
 * Starts a model service. It answers `I heard: <newest message>`; to one with `refund` in it, with a call of the tool.
 * Texts of different tests differ, so that tests may share it.
 */
export async function startModel(): Promise<ChatModel> {
  const rules: { text: string; reply: (request: ReceivedRequest) => Reply | Promise<Reply> }[] = [];
  const server = await startStrictServer({
    respond: (request, count) => {
      const said = newestText(request);
      const rule = rules.find(({ text }) => said.includes(text));
      return rule === undefined ? { answer: answerTo(request, said, count) } : rule.reply(request);
    },
  });
  return {
    environment: { OPENAI_API_KEY: server.apiKey, OPENAI_BASE_URL: server.baseURL, OPENAI_MODEL: "test-model" },
    asked: (text) => server.requests.filter((request) => newestText(request).includes(text)),
    on: (text, reply) => rules.push({ text, reply }),
    close: () => server.close(),
  };
}

function answerTo(request: ReceivedRequest, said: string, count: number) {
  const messages = messagesOf(request);
  const result = messages.findLast(({ role }) => role === "tool");
  // A result stands behind its call, also when something else was said in between.
  if (result !== undefined && messages.at(-1)?.["role"] !== "user") {
    return { text: `The tool said: ${String(result["content"])}` };
  }
  if (said.includes("refund")) {
    const call = { id: `call_${count}`, name: "refund_order", arguments: JSON.stringify({ order: said, cents: 500 }) };
    return { toolCalls: [call] };
  }
  return { text: `I heard: ${said}` };
}

/** The messages of a request, as the model was given them. */
export function messagesOf({ body }: ReceivedRequest): Fields[] {
  return Array.isArray(body["messages"]) ? body["messages"].filter(isFields) : [];
}

/** What the users said in a request. */
export function saidIn(request: ReceivedRequest): string[] {
  return messagesOf(request).flatMap(({ role, content }) => (role === "user" ? [textOf(content)] : []));
}

function newestText(request: ReceivedRequest): string {
  return saidIn(request).at(-1) ?? "";
}

function textOf(content: unknown): string {
  const parts = Array.isArray(content) ? content.filter(isFields) : [{ text: content }];
  return parts.map(({ text }) => (typeof text === "string" ? text : "")).join("");
}
