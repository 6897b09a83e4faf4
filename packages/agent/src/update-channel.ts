/** Hands a piece on; settles when the next one is wanted, rejects when nobody wants any more. */
export type Emit<T> = (value: T) => Promise<void> | void;

interface Consumer<T> {
  resolve(result: IteratorResult<T, void>): void;
  reject(error: unknown): void;
}

/**
 * Turns a function that emits pieces into an async generator, in lockstep: nothing runs before the first piece is
 * asked for, and after each piece the function waits until the next one is. Ending the iteration makes the pending
 * `emit` reject with an AbortError, and waits until the function has cleaned up.
 */
export class UpdateChannel<T> implements AsyncGenerator<T, void, undefined> {
  readonly #produce: (emit: Emit<T>) => Promise<unknown>;
  readonly #consumers: Consumer<T>[] = [];
  #running: Promise<void> | undefined;
  #resume: { resolve(): void; reject(error: unknown): void } | undefined;
  #isOver = false;
  /** What ended the function while nobody was waiting; the next one to ask hears of it. */
  #unheard: { readonly error: unknown } | undefined;
  #isAbandoned = false;

  constructor(produce: (emit: Emit<T>) => Promise<unknown>) {
    this.#produce = produce;
  }

  next(): Promise<IteratorResult<T, void>> {
    const unheard = this.#unheard;
    this.#unheard = undefined;
    if (unheard !== undefined) {
      return Promise.reject(unheard.error);
    }
    if (this.#isOver) {
      return Promise.resolve({ value: undefined, done: true });
    }
    return new Promise((resolve, reject) => {
      this.#consumers.push({ resolve, reject });
      if (this.#running === undefined) {
        this.#running = this.#run();
      } else if (this.#consumers.length === 1) {
        this.#release()?.resolve();
      }
    });
  }

  async return(): Promise<IteratorResult<T, void>> {
    if (!this.#isOver) {
      this.#isAbandoned = true;
      this.#isOver = this.#running === undefined;
      this.#release()?.reject(abandoned());
      await this.#running;
    }
    return { value: undefined, done: true };
  }

  async throw(error: unknown): Promise<IteratorResult<T, void>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #run(): Promise<void> {
    try {
      await this.#produce((value) => this.#emit(value));
      this.#end((consumer) => consumer.resolve({ value: undefined, done: true }));
    } catch (error) {
      this.#unheard = this.#consumers.length > 0 || this.#isAbandoned ? undefined : { error };
      this.#end((consumer) => consumer.reject(error));
    }
  }

  #emit(value: T): Promise<void> | void {
    if (this.#isAbandoned) {
      return Promise.reject(abandoned());
    }
    this.#consumers.shift()?.resolve({ value, done: false });
    if (this.#consumers.length > 0) {
      return;
    }
    return new Promise((resolve, reject) => {
      this.#resume = { resolve, reject };
    });
  }

  #release(): { resolve(): void; reject(error: unknown): void } | undefined {
    const resume = this.#resume;
    this.#resume = undefined;
    return resume;
  }

  /** The first waiting consumer hears how it ended; others, that it is over. */
  #end(tell: (consumer: Consumer<T>) => void): void {
    this.#isOver = true;
    const [first, ...others] = this.#consumers.splice(0);
    if (first !== undefined) {
      tell(first);
    }
    for (const consumer of others) {
      consumer.resolve({ value: undefined, done: true });
    }
  }
}

const abandonments = new WeakSet<object>();

/** The error with which a run ends that nobody reads to its end. */
export function abandoned(): DOMException {
  const error = new DOMException("The stream was given up before its end", "AbortError");
  abandonments.add(error);
  return error;
}

/** True for the error of {@link abandoned}. */
export function isAbandoned(error: unknown): boolean {
  return typeof error === "object" && error !== null && abandonments.has(error);
}
