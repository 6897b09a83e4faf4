import { Contention } from "./contention.ts";
import type { Conversation } from "./task.ts";

/** Conversations whose ends are kept, and ids among them: some 20 MB. */
const MOST_CONVERSATIONS = 2_000;
const MOST_IDS = 200_000;
const USES_BETWEEN_TRIMS = 100;

/** What a store knows of the conversations that it used last. What is given up is asked for again. */
export class Conversations {
  /** In order of use, the newest last. */
  readonly #kept = new Map<string, Conversation>();
  #uses = 0;

  find(directory: string, names: string | undefined): Conversation {
    const known = this.#kept.get(directory);
    const conversation = known ?? { directory, names, contention: new Contention(), tail: undefined };
    conversation.names ??= names;
    this.#kept.delete(directory);
    this.#kept.set(directory, conversation);
    this.#uses += 1;
    if (this.#uses % USES_BETWEEN_TRIMS === 0) {
      this.#trim();
    }
    return conversation;
  }

  clear(): void {
    this.#kept.clear();
  }

  #trim(): void {
    let ids = 0;
    for (const { tail } of this.#kept.values()) {
      ids += tail?.idCount ?? 0;
    }
    for (const [directory, { tail }] of this.#kept) {
      if (ids <= MOST_IDS && this.#kept.size <= MOST_CONVERSATIONS) {
        return;
      }
      ids -= tail?.idCount ?? 0;
      this.#kept.delete(directory);
    }
  }
}
