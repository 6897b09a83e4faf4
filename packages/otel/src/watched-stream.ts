import { type Operation, quietly } from "./operation.ts";

/** Sees the pieces of a stream and puts what it learns into the operation. */
export interface Watcher<T> {
  readonly operation: Operation;
  /** Gives the stream up also while its reader is away. */
  readonly signal?: AbortSignal | undefined;
  /** A piece came. */
  saw(piece: T): void;
  /** The operation is about to end. */
  finish(): void;
}

/**
 * A stream that is watched from its first piece until it ends, fails or is given up. Not an async generator, whose body
 * would run in the context of whoever asks for the next piece: here every step runs inside of the operation.
 */
export class WatchedStream<T> implements AsyncIterableIterator<T> {
  readonly #watch: () => Watcher<T> | undefined;
  readonly #open: () => AsyncIterable<T>;
  #watcher: Watcher<T> | undefined;
  #source: AsyncIterator<T> | undefined;
  #isBegun = false;
  #isOver = false;
  #pending = 0;
  readonly #onAbort = (): void => {
    // Whoever waits for a piece hears of the abort in a moment; nobody tells us of a reader who never comes back.
    if (this.#pending === 0) {
      this.#fail(this.#watcher?.signal?.reason);
    }
  };

  /** @param watch Begins the operation; `undefined` when nobody watches. Called when the first piece is asked for. */
  constructor(watch: () => Watcher<T> | undefined, open: () => AsyncIterable<T>) {
    this.#watch = watch;
    this.#open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#isOver) {
      return Promise.resolve({ value: undefined, done: true });
    }
    if (!this.#isBegun) {
      this.#isBegun = true;
      this.#watcher = quietly(this.#watch);
      this.#watcher?.signal?.addEventListener("abort", this.#onAbort, { once: true });
    }
    const watcher = this.#watcher;
    return watcher === undefined ? this.#plainStep() : this.#step(watcher);
  }

  async return(): Promise<IteratorResult<T>> {
    this.#isOver = true;
    const source = this.#source;
    const givenUp = new DOMException("The stream was given up before its end", "AbortError");
    if (this.#pending > 0) {
      // A source that does not heed the abort would keep the operation open for ever.
      this.#fail(givenUp);
    }
    try {
      await this.#inside(async () => source?.return?.());
    } finally {
      this.#fail(givenUp);
    }
    return { value: undefined, done: true };
  }

  async throw(error: unknown): Promise<IteratorResult<T>> {
    await this.return();
    throw error;
  }

  async #step(watcher: Watcher<T>): Promise<IteratorResult<T>> {
    this.#pending += 1;
    try {
      const step = await watcher.operation.run(() => this.#opened().next());
      if (step.done) {
        this.#end((operation) => operation.end());
      } else {
        quietly(() => watcher.saw(step.value));
      }
      return step;
    } catch (error) {
      this.#fail(error);
      throw error;
    } finally {
      this.#pending -= 1;
    }
  }

  #plainStep(): Promise<IteratorResult<T>> {
    try {
      return this.#opened().next();
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #opened(): AsyncIterator<T> {
    this.#source ??= this.#open()[Symbol.asyncIterator]();
    return this.#source;
  }

  #inside<R>(code: () => R): R {
    return this.#watcher === undefined ? code() : this.#watcher.operation.run(code);
  }

  #fail(error: unknown): void {
    this.#end((operation) => operation.fail(error));
  }

  #end(how: (operation: Operation) => void): void {
    const watcher = this.#watcher;
    this.#watcher = undefined;
    if (watcher !== undefined) {
      watcher.signal?.removeEventListener("abort", this.#onAbort);
      quietly(() => watcher.finish());
      how(watcher.operation);
    }
  }
}
