import type { Inside } from "./nesting.ts";

/** Rejects when a signal fires; made once for a run, because a listener for each step would be dear. */
export class Interruption {
  readonly signal: AbortSignal;
  readonly #fired: Promise<never> | undefined;
  #stop: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal ?? new AbortController().signal;
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
    this.signal.throwIfAborted();
    return this.#fired === undefined ? promise : Promise.race([promise, this.#fired]);
  }

  /** Stops listening. */
  dispose(): void {
    this.#stop?.();
  }
}

/**
 * Reads an iterable that may not heed the signal: an abort ends the loop at once, and the iterable is told to finish
 * without being waited for.
 */
export async function* abortable<T>(
  iterable: AsyncIterable<T>,
  interruption: Interruption,
  inside: Inside,
): AsyncGenerator<T, void> {
  const iterator = inside(() => iterable[Symbol.asyncIterator]());
  let finished = false;
  try {
    for (;;) {
      const step = await interruption.race(inside(() => iterator.next()));
      if (step.done) {
        finished = true;
        return;
      }
      yield step.value;
    }
  } catch (error) {
    finished = !interruption.signal.aborted;
    throw error;
  } finally {
    if (!finished) {
      const ending = inside(() => iterator.return?.());
      if (interruption.signal.aborted) {
        ending?.catch(() => undefined);
      } else {
        await ending;
      }
    }
  }
}
