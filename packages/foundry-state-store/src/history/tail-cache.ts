import type { Tail } from "./tail.ts";

/** How many conversations a store remembers the end of. */
const MOST = 200;

/** The ends of the conversations that were appended to last. What it gives may be out of date. */
export class TailCache {
  readonly #tails = new Map<string, Tail>();

  get(hash: string): Tail | undefined {
    return this.#tails.get(hash);
  }

  forget(hash: string): void {
    this.#tails.delete(hash);
  }

  keep(hash: string, tail: Tail): void {
    this.forget(hash);
    this.#tails.set(hash, tail);
    const [oldest] = this.#tails.keys();
    if (this.#tails.size > MOST && oldest !== undefined) {
      this.#tails.delete(oldest);
    }
  }
}
