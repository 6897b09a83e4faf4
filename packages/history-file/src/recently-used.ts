/** Something that costs while it is kept and can be had again. */
export interface Kept {
  giveUp(): void;
}

/**
 * Gives up what was not used for longest above a number, and what was not used for a while. One for all stores of the
 * process, so that a store which nobody closes, made anew for each request perhaps, does not use up descriptors; and a
 * file that another process has removed gives its space back soon.
 */
export class RecentlyUsed {
  readonly #most: number;
  readonly #idleMs: number;
  /** In order of use, the newest last. */
  readonly #items = new Map<Kept, NodeJS.Timeout>();

  constructor(most: number, idleMs: number) {
    this.#most = most;
    this.#idleMs = idleMs;
  }

  /** The item was just used. A process that has nothing else to do than to wait for items may end. */
  use(item: Kept): void {
    const timer = this.#items.get(item) ?? setTimeout(() => this.#giveUp(item), this.#idleMs).unref();
    this.#items.delete(item);
    this.#items.set(item, timer.refresh());
    const [oldest] = this.#items.keys();
    if (oldest !== undefined && this.#items.size > this.#most) {
      this.#giveUp(oldest);
    }
  }

  /** The item is gone already. */
  remove(item: Kept): void {
    clearTimeout(this.#items.get(item));
    this.#items.delete(item);
  }

  #giveUp(item: Kept): void {
    this.remove(item);
    item.giveUp();
  }
}
