import { withDeadline } from "../deadline.ts";
import { AgentFrameworkError } from "../errors.ts";

/** How long a call may take, and what ends it early. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * A part of a package that an import of the package leaves out. It is loaded in the background from the moment on at which
 * this is made: a program that starts can still be helped when a file is missing, and one in the middle of an outage cannot.
 * So make one where a provider is constructed, and keep everything that a failure needs in the one part.
 *
 * *Concurrency*: what waits for the part begins in the order of the calls to `run`, before anything that is run later.
 */
export class OnDemand<Part> {
  readonly #provider: string;
  readonly #load: () => Promise<Part>;
  #part: Part | undefined;
  #loading: Promise<Part> | undefined;
  #waiting = 0;
  #isClosed = false;

  /**
   * Begins to load. That it fails is heard by those who need the part.
   *
   * @param provider Named in errors.
   * @param load Gives the part: `() => import("./engine.ts")`, or that and what is made with it.
   */
  constructor(provider: string, load: () => Promise<Part>) {
    this.#provider = provider;
    this.#load = load;
    void this.#begin();
  }

  /** The part, once it is there and nobody waits for it. What is called often asks for it, and need not `run`. */
  get loaded(): Part | undefined {
    // A promise tells those who wait one after another, and who comes in between must not go before them.
    return this.#waiting === 0 ? this.#part : undefined;
  }

  /**
   * Calls `work` with the part: at once where it is there, else when it is, in the asynchronous context of this call. Sets no
   * time limit; `withDeadline` around it does.
   *
   * @throws what `work` throws; `unavailable` when the part cannot be loaded, and `configuration` after {@link close}:
   * nothing was done then. After `unavailable` the next call tries to load it again. Node 20 remembers a file that it could not
   * read, and needs a new process then.
   */
  run<Result>(name: string, work: (part: Part) => Promise<Result>): Promise<Result> {
    const now = this.#now(name, work);
    if (now !== undefined) {
      return now;
    }
    this.#waiting += 1;
    return (this.#loading ?? this.#begin()).then(
      (loaded) => {
        this.#waiting -= 1;
        return work(loaded);
      },
      (cause: unknown) => {
        this.#waiting -= 1;
        const message = `${name}: a part of the package could not be loaded`;
        throw new AgentFrameworkError("unavailable", message, { provider: this.#provider, cause });
      },
    );
  }

  /**
   * As `run`, for work that keeps its own limits, of which it is given what the wait has left.
   *
   * @throws as `run` does, or `timeout` or the abort reason when the part is not there in time: the work has not begun
   * then, and never will.
   */
  runWithin<Result>(
    name: string,
    limits: CallLimits,
    work: (part: Part, limits: CallLimits) => Promise<Result>,
  ): Promise<Result> {
    const now = this.#now(name, (part) => work(part, limits));
    if (now !== undefined) {
      return now;
    }
    const { timeoutMs, signal } = limits;
    const start = performance.now();
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      let isGivenUp = false;
      const giveUp = (error: unknown) => {
        isGivenUp = true;
        signal?.removeEventListener("abort", onAbort);
        // Without effect on work that has begun: that has a deadline of its own.
        reject(error);
      };
      const onAbort = () => giveUp(signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      const begin = async (part: Part) => {
        // Not two listeners for one call: Node warns of a signal that has many.
        signal?.removeEventListener("abort", onAbort);
        if (!isGivenUp) {
          const left = Math.max(1, Math.ceil(timeoutMs - (performance.now() - start)));
          resolve(work(part, { timeoutMs: left, signal }));
        }
      };
      const deadline = { kind: "read", provider: this.#provider, timeoutMs } as const;
      withDeadline(name, deadline, () => this.run(name, begin)).catch(giveUp);
    });
  }

  /**
   * Ends the use of the part: what was called before is carried out, and each later call rejects with `configuration`. Gives
   * the part, for what it opened to be closed, when all that waits has begun or failed, or so much time has passed; undefined
   * where there is none. Never rejects. Can be called again.
   */
  async close(timeoutMs: number): Promise<Part | undefined> {
    this.#isClosed = true;
    const deadline = { kind: "read", provider: this.#provider, timeoutMs } as const;
    await withDeadline("close", deadline, () => this.#allBegun()).catch(() => undefined);
    return this.#part;
  }

  /** Calls `work` where nothing is to be waited for, or refuses to. */
  #now<Result>(name: string, work: (part: Part) => Promise<Result>): Promise<Result> | undefined {
    try {
      if (this.#isClosed) {
        throw new AgentFrameworkError("configuration", `${name}: called after close()`, { provider: this.#provider });
      }
      const part = this.loaded;
      return part === undefined ? undefined : work(part);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #allBegun(): Promise<void> {
    while (this.#waiting > 0) {
      await this.#loading?.catch(() => undefined);
    }
  }

  #begin(): Promise<Part> {
    // Some bundlers' import throws.
    const loading = new Promise<Part>((resolve) => resolve(this.#load()));
    this.#loading = loading;
    loading.then(
      (part) => {
        this.#part = part;
      },
      () => {
        this.#loading = undefined;
      },
    );
    return loading;
  }
}
