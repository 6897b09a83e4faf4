/** What was begun and has not ended, also when nobody waits for it any more. */
export class UnderWay {
  readonly #running = new Set<Promise<unknown>>();

  track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    const forget = () => this.#running.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** Resolves when everything that is under way now has ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }
}
