import type { TailMemory } from "./appending.ts";
import type { Tail } from "./tail.ts";

/** How many conversations a store remembers the end of. */
const MOST = 200;

/** The ends of the conversations that were appended to last. */
export class TailCache {
  readonly #tails = new Map<string, Tail>();

  /** The memory of one conversation. */
  of(hash: string): TailMemory {
    return {
      get: () => this.#tails.get(hash),
      keep: (tail) => {
        this.#tails.delete(hash);
        if (tail !== undefined) {
          this.#tails.set(hash, tail);
          this.#forgetOldest();
        }
      },
    };
  }

  #forgetOldest(): void {
    for (const oldest of this.#tails.keys()) {
      if (this.#tails.size <= MOST) {
        return;
      }
      this.#tails.delete(oldest);
    }
  }
}

/** Remembers nothing. */
export const noMemory: TailMemory = { get: () => undefined, keep: () => {} };
