import {
  type Answer,
  type Fields,
  isFields,
  type ReceivedRequest,
  startStrictServer,
} from "@agentfw/test-servers/openai";

/** A model service of our own. */
export interface DemoModel {
  readonly baseURL: string;
  readonly apiKey: string;
  close(): Promise<void>;
}

/**
 * Starts a model service that is none: it speaks Chat Completions, refuses what the real one refuses, and knows two
 * things. It says what it was told before, and when told to refund an order it asks for the tool that does.
 */
export async function startDemoModel(): Promise<DemoModel> {
  return startStrictServer({ respond: ({ body }, count) => ({ answer: answerTo(messagesOf(body), count) }) });
}

function answerTo(messages: readonly Fields[], count: number): Answer {
  const last = messages.at(-1);
  if (last?.["role"] === "tool") {
    const isRefused = String(last["content"]).includes("refused");
    return { text: isRefused ? "Then I leave it as it is." : "The refund is on its way." };
  }
  const said = messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content));
  const text = said.at(-1) ?? "";
  const [, order] = /\brefund\b.*?(\d+)/i.exec(text) ?? [];
  if (order !== undefined) {
    const call = { id: `call_${count}`, name: "refund_order", arguments: JSON.stringify({ order, cents: 1_000 }) };
    return { toolCalls: [call] };
  }
  const before = said.slice(0, -1).map((line) => `"${line}"`);
  return { text: before.length === 0 ? `You said "${text}".` : `You said ${before.join(", ")} before.` };
}

function messagesOf({ messages }: ReceivedRequest["body"]): Fields[] {
  return Array.isArray(messages) ? messages.filter(isFields) : [];
}

function textOf(content: unknown): string {
  const parts = Array.isArray(content) ? content.filter(isFields) : [{ text: content }];
  return parts.map(({ text }) => (typeof text === "string" ? text : "")).join("");
}
