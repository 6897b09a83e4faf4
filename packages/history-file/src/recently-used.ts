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
  /** In order of use, the newest last, with the time of use. */
  readonly #items = new Map<Kept, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(most: number, idleMs: number) {
    this.#most = most;
    this.#idleMs = idleMs;
  }

  /** The item was just used. */
  use(item: Kept): void {
    this.#items.delete(item);
    this.#items.set(item, Date.now());
    for (const oldest of this.#items.keys()) {
      if (this.#items.size <= this.#most) {
        break;
      }
      this.#giveUp(oldest);
    }
    this.#timer ??= this.#start();
  }

  /** The item is gone already. */
  remove(item: Kept): void {
    this.#items.delete(item);
  }

  /** Looks again and again while there are items; a process that has nothing else to do may end meanwhile. */
  #start(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined;
      const before = Date.now() - this.#idleMs;
      for (const [item, usedAt] of this.#items) {
        if (usedAt <= before) {
          this.#giveUp(item);
        }
      }
      if (this.#items.size > 0) {
        this.#timer = this.#start();
      }
    }, this.#idleMs).unref();
  }

  #giveUp(item: Kept): void {
    this.#items.delete(item);
    item.giveUp();
  }
}
