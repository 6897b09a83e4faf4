import { assertHistoryKey, type HistoryKey } from "@agentfw/core";
import { type ConversationKeys, conversationKeys } from "./keys.ts";

/** What a store knows of a conversation that it used lately. */
export interface Conversation {
  readonly owner: string | null;
  readonly source: string;
  readonly keys: ConversationKeys;
  /** When its index and its ids must be told again that it lives on. It has come until it is known that they were told. */
  due: Moment;
}

/** A moment on two clocks: one may be set back, the other may stop while the machine sleeps. */
export interface Moment {
  /** Milliseconds since the epoch. */
  readonly date: number;
  /** Milliseconds of `performance.now()`. */
  readonly ticks: number;
}

/** The moment that has come. */
export const NOW: Moment = { date: 0, ticks: 0 };

/** The moment that does not come. */
export const NEVER: Moment = { date: Number.POSITIVE_INFINITY, ticks: Number.POSITIVE_INFINITY };

/** The moment so many milliseconds from now. */
export function momentIn(milliseconds: number): Moment {
  return { date: Date.now() + milliseconds, ticks: performance.now() + milliseconds };
}

/** True when the moment has come by either clock. */
export function hasCome({ date, ticks }: Moment): boolean {
  return Date.now() >= date || performance.now() >= ticks;
}

/** More than these are forgotten and made anew when they are used again. */
const MOST_CONVERSATIONS = 1000;
const LONGEST_SESSION = 1000;

/** Remembers the keys of conversations in use: to make them takes longer than anything else in a read. */
export class Conversations {
  readonly #prefix: string;
  readonly #bySession = new Map<string, Conversation>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** @throws `configuration` for a key that is none. */
  find(key: HistoryKey): Conversation {
    const known = this.#bySession.get(key?.session);
    if (known !== undefined && known.owner === key.owner && known.source === key.source) {
      return known;
    }
    assertHistoryKey(key);
    const { owner, source, session } = key;
    const made = { owner, source, keys: conversationKeys(this.#prefix, key), due: NOW };
    if (session.length <= LONGEST_SESSION) {
      if (this.#bySession.size >= MOST_CONVERSATIONS) {
        this.#bySession.clear();
      }
      this.#bySession.set(session, made);
    }
    return made;
  }
}
