import type { Message } from "@agentfw/core";
import { type Random, seededRandom } from "./random.ts";

/** How many messages the load jobs load. */
export const LOADED_MESSAGES = 20;

/** How long the messages of every measurement are, in characters. */
export const USER_CHARACTERS = 120;
export const ASSISTANT_CHARACTERS = 600;

const WORDS = (
  "a all and any are as at be before but by can could day each early every few find first for from give go good great " +
  "had has have here how if in into is it its keep know large last late left less letter light like line long look made " +
  "make many may mean might more most much must name near never new next night no not now number of off often old on " +
  "once one only open or order other our out over own page part people place plan point question quite rather read " +
  "right river road room round same say second see seems set short should small so some soon still stone such summer " +
  "sure table take tell than that the their then there these thing think this those time to too town train travel tree " +
  "two under until up upon very water way we week well were what when where which while who why will window winter with " +
  "without word work would write year yet you young your"
).split(" ");

/** Sentences that look like language, exactly `length` characters long. */
export function prose(length: number, random: Random): string {
  const sentences: string[] = [];
  for (let characters = 0; characters <= length; ) {
    const count = 5 + Math.floor(random() * 10);
    const words = Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)] ?? "");
    const sentence = words.join(" ");
    sentences.push(`${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`);
    characters += sentence.length + 2;
  }
  // Through bytes, so that the text is one piece: a text that was just put together costs its first reader more.
  return Buffer.from(sentences.join(" ").slice(0, length), "latin1").toString("latin1");
}

const random = seededRandom(1);
const USER_TEXTS = Array.from({ length: 64 }, () => prose(USER_CHARACTERS, random));
const ASSISTANT_TEXTS = Array.from({ length: 64 }, () => prose(ASSISTANT_CHARACTERS, random));

/** A question and its answer. */
export interface Turn {
  readonly runId: string;
  readonly user: Message;
  readonly assistant: Message;
}

/** The text of the question of a turn. */
export function userText(number: number): string {
  return USER_TEXTS[number % USER_TEXTS.length] ?? "";
}

/** The text of the answer of a turn. */
export function assistantText(number: number): string {
  return ASSISTANT_TEXTS[number % ASSISTANT_TEXTS.length] ?? "";
}

/** The turn with a number; its ids are those of no other turn, and as long as those of a real one. */
export function turn(number: number): Turn {
  const runId = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
  const createdAt = new Date(1_750_000_000_000 + number * 1000).toISOString();
  return {
    runId,
    user: textMessage("user", userText(number), `${runId}:i0`, createdAt),
    assistant: textMessage("assistant", assistantText(number), `${runId}:o0`, createdAt),
  };
}

function textMessage(role: Message["role"], text: string, messageId: string, createdAt: string): Message {
  return { role, contents: [{ type: "text", text }], messageId, createdAt };
}

/** The messages of the first turns, oldest first. */
export function messages(count: number): Message[] {
  return Array.from({ length: Math.ceil(count / 2) }, (_, number) => turn(number))
    .flatMap(({ user, assistant }) => [user, assistant])
    .slice(0, count);
}

/** Gives turns that no conversation of `messages` has. */
export class TurnSource {
  #next: number;

  constructor(first = 1_000_000) {
    this.#next = first;
  }

  next(): Turn {
    this.#next += 1;
    return turn(this.#next);
  }
}
