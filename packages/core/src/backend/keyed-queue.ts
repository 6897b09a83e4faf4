/**
 * Runs tasks of one name one after another, in the order in which they came; other names do not wait. What it remembers of a
 * name goes when nothing of that name is under way.
 */
export class KeyedQueue {
  readonly #ends = new Map<string, Promise<unknown>>();

  /** Runs `task` when the earlier ones of this name have ended, however they ended; at once where there are none. */
  run<T>(name: string, task: () => Promise<T>): Promise<T> {
    const earlier = this.#ends.get(name);
    const result = earlier === undefined ? task() : earlier.then(task);
    const end = result.catch(() => undefined);
    this.#ends.set(name, end);
    void end.then(() => {
      if (this.#ends.get(name) === end) {
        this.#ends.delete(name);
      }
    });
    return result;
  }

  /** Resolves when everything that was queued until now has ended. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#ends.values());
  }
}
