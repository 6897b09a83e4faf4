/** What must not take longer than its time. */
export interface Timed {
  /** When its time is over, by `performance.now()`. Set by `add`. */
  deadline: number;
  /** Called once the time is over, unless it was removed before. */
  late(): void;
}

/**
 * The time limits of calls that all have the same one, on a single timer: a timer for each call costs as much as the rest
 * of it. The timer keeps no process alive; what a call waits for does.
 */
export class Deadlines {
  readonly #timeoutMs: number;
  /** In the order in which they were added, which is that of their deadlines. */
  readonly #waiting = new Set<Timed>();
  #isArmed = false;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** How many have time left. */
  get size(): number {
    return this.#waiting.size;
  }

  add(one: Timed): void {
    one.deadline = performance.now() + this.#timeoutMs;
    this.#waiting.add(one);
    if (!this.#isArmed) {
      this.#arm(this.#timeoutMs);
    }
  }

  remove(one: Timed): void {
    this.#waiting.delete(one);
  }

  #arm(milliseconds: number): void {
    this.#isArmed = true;
    const timer: unknown = setTimeout(() => this.#check(), milliseconds);
    // Only timers of Node keep a process alive, and are told not to.
    if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function") {
      timer.unref();
    }
  }

  #check(): void {
    this.#isArmed = false;
    const now = performance.now();
    for (const one of this.#waiting) {
      // Timers fire up to a millisecond early.
      if (one.deadline - now >= 1) {
        this.#arm(one.deadline - now);
        return;
      }
      this.#waiting.delete(one);
      one.late();
    }
  }
}
