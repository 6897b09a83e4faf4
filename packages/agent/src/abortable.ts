/** Rejects when a signal fires; made once for a run, because a listener for each step would be dear. */
export class Interruption {
  /** The caller's signal; `undefined` when nobody can give the run up. */
  readonly signal: AbortSignal | undefined;
  readonly #fired: Promise<never> | undefined;
  #stop: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
    if (signal !== undefined) {
      this.#fired = new Promise((_, reject) => {
        const abort = () => reject(signal.reason);
        signal.addEventListener("abort", abort, { once: true });
        this.#stop = () => signal.removeEventListener("abort", abort);
      });
      this.#fired.catch(() => undefined);
    }
  }

  get isAborted(): boolean {
    return this.signal?.aborted === true;
  }

  /** @throws the abort reason, after an abort. */
  throwIfAborted(): void {
    this.signal?.throwIfAborted();
  }

  /**
   * Starts something and settles with it, or with the abort reason if that comes first; after an abort it is not started
   * at all. What was started and left behind may reject without anybody hearing of it.
   */
  race<T>(start: () => Promise<T>): Promise<T> {
    if (this.#fired === undefined) {
      return start();
    }
    this.throwIfAborted();
    return Promise.race([start(), this.#fired]);
  }

  /** Stops listening. */
  dispose(): void {
    this.#stop?.();
  }
}

/**
 * Reads an iterable that may not heed the signal: an abort ends the loop at once, and the iterable is told to finish
 * without being waited for. When `onValue` rejects, the iterable is told to finish and waited for.
 */
export async function readAborting<T>(
  iterable: AsyncIterable<T>,
  interruption: Interruption,
  onValue: (value: T) => Promise<void> | void,
): Promise<void> {
  const iterator = iterable[Symbol.asyncIterator]();
  let isFinished = false;
  try {
    for (;;) {
      isFinished = true;
      const step = await interruption.race(() => iterator.next());
      if (step.done) {
        return;
      }
      isFinished = false;
      await onValue(step.value);
    }
  } finally {
    // The run ends with what ended the reading, not with what goes wrong in clearing up behind it.
    const { isAborted } = interruption;
    const cleared = isAborted || !isFinished ? finish(iterator).catch(() => undefined) : undefined;
    if (!isAborted) {
      await cleared;
    }
  }
}

async function finish(iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.();
}
