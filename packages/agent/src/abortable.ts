/** A signal that never fires, for runs that nobody can abort: making one for each would be dear. */
export const NEVER: AbortSignal = new AbortController().signal;

/** Rejects when a signal fires; made once for a run, because a listener for each step would be dear. */
export class Interruption {
  readonly signal: AbortSignal;
  readonly #fired: Promise<never> | undefined;
  #stop: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal ?? NEVER;
    if (signal !== undefined) {
      this.#fired = new Promise((_, reject) => {
        const abort = () => reject(signal.reason);
        signal.addEventListener("abort", abort, { once: true });
        this.#stop = () => signal.removeEventListener("abort", abort);
      });
      this.#fired.catch(() => undefined);
    }
  }

  /** Settles with the promise, or with the abort reason if that comes first. */
  race<T>(promise: Promise<T>): Promise<T> {
    if (this.#fired === undefined) {
      return promise;
    }
    this.signal.throwIfAborted();
    return Promise.race([promise, this.#fired]);
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
      const step = await interruption.race(iterator.next());
      if (step.done) {
        return;
      }
      isFinished = false;
      await onValue(step.value);
    }
  } finally {
    if (interruption.signal.aborted) {
      iterator.return?.().catch(() => undefined);
    } else if (!isFinished) {
      await iterator.return?.();
    }
  }
}
