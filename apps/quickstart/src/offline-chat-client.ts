import { setTimeout as pause } from "node:timers/promises";
import { type ChatClient, type ChatRequestOptions, type ChatUpdate, type Message, messageText } from "@agentfw/core";
import { memoryStep } from "./offline-memory.ts";
import { count } from "./terminal.ts";

/** Words that say nothing about what a question is about. */
const IDLE_WORDS = new Set(
  (
    "a about am an and any are as at be been but by can could did do does for from had has have how i if in is it kind " +
    "know me my of on or our please remember said say should so some sort tell that the their them there they this to " +
    "told type us was we were what when where which who why will with would you your"
  ).split(" "),
);

/**
 * Answers without any model, so that the quickstart works offline: it looks for the earlier message of the user that
 * has most words in common with the question. Everything it knows is in the messages that it is given, so what it
 * remembers is what the history gave it. The same messages always get the same answer.
 */
export class OfflineChatClient implements ChatClient {
  readonly contractVersion = 1;
  readonly storesByDefault = false;
  readonly #delayMs: number;

  /** `delayMs` between words makes the answer look like a stream. */
  constructor({ delayMs = 0 }: { readonly delayMs?: number } = {}) {
    this.#delayMs = delayMs;
  }

  async *stream(
    messages: readonly Message[],
    { signal, tools = [] }: ChatRequestOptions,
  ): AsyncGenerator<ChatUpdate, void> {
    const { call, text = answerTo(messages) } = memoryStep(messages, tools, { isQuestion, words });
    if (call !== undefined) {
      yield { role: "assistant", contents: [call], finishReason: "tool_calls" };
      return;
    }
    for (const piece of text.split(/(?<= )/)) {
      signal?.throwIfAborted();
      if (this.#delayMs > 0) {
        await pause(this.#delayMs, undefined, { signal });
      }
      yield { role: "assistant", contents: [{ type: "text", text: piece }] };
    }
    yield { finishReason: "stop" };
  }
}

function answerTo(messages: readonly Message[]): string {
  const said = messages
    .filter(({ role, attribution }) => role === "user" && attribution?.sourceType !== "context")
    .map(messageText);
  const question = said.at(-1) ?? "";
  const earlier = said.slice(0, -1);
  if (!isQuestion(question)) {
    return `Noted. Ask me about it, in this process or in a later one.`;
  }
  const match = bestMatch(question, earlier);
  return match === undefined
    ? `I find nothing about that in what you said earlier (${count(earlier.length, "message")} that I was given).`
    : `You told me: "${match}"`;
}

function isQuestion(text: string): boolean {
  return /\?\s*$/.test(text) || /^\s*(what|which|who|where|when|why|how)\b/i.test(text);
}

/** The statement with most words in common with the question; of several, the latest. */
function bestMatch(question: string, earlier: readonly string[]): string | undefined {
  const wanted = words(question);
  let best: string | undefined;
  let bestScore = 1;
  for (const statement of earlier.filter((text) => !isQuestion(text))) {
    const score = [...words(statement)].filter((word) => wanted.has(word)).length;
    if (score >= bestScore) {
      best = statement;
      bestScore = score;
    }
  }
  return best;
}

/** Lower-case words without the idle ones and without an ending that only says how many. */
function words(text: string): Set<string> {
  const all = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(all.filter((word) => !IDLE_WORDS.has(word)).map((word) => word.replace(/(?<=..)s$/, "")));
}
