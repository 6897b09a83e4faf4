import { AgentFrameworkError } from "./errors.ts";

/** Who cannot go on without the part. */
interface Waiting<Part> {
  begin(part: Part): void;
  fail(cause: unknown): void;
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
  #loaded: Part | undefined;
  /** In the order of their calls. */
  #waiting: Waiting<Part>[] = [];
  #loading: Promise<void> | undefined;

  /**
   * Begins to load. That it fails is heard by those who need the part.
   *
   * @param provider Named in errors.
   * @param load Gives the part: `() => import("./engine.ts")`, or that and what is made with it.
   */
  constructor(provider: string, load: () => Promise<Part>) {
    this.#provider = provider;
    this.#load = load;
    this.#begin();
  }

  /** The part, once it is there. What is called often asks for it, and need not `run`. */
  get loaded(): Part | undefined {
    return this.#loaded;
  }

  /**
   * Calls `work` with the part: at once where it is there, else when it is. Sets no time limit; `withDeadline` around it does.
   *
   * @throws what `work` throws; `unavailable` when the part cannot be loaded, and nothing was done then. The next call tries
   * to load it again.
   */
  run<Result>(name: string, work: (part: Part) => Promise<Result>): Promise<Result> {
    if (this.#loaded !== undefined) {
      return work(this.#loaded);
    }
    return new Promise((resolve, reject) => {
      const begin = (part: Part) => {
        try {
          resolve(work(part));
        } catch (error) {
          reject(error);
        }
      };
      const fail = (cause: unknown) => {
        const message = `${name}: a part of the package could not be loaded`;
        reject(new AgentFrameworkError("unavailable", message, { provider: this.#provider, cause }));
      };
      this.#waiting.push({ begin, fail });
      this.#begin();
    });
  }

  /** Resolves when nothing is being loaded any more, and what waited has begun. Never rejects. For what ends a provider. */
  async settled(): Promise<void> {
    await this.#loading;
  }

  #begin(): void {
    this.#loading ??= this.#load().then(
      (part) => {
        // In one step with those who wait: nobody who finds the part there can go before them.
        this.#loaded = part;
        this.#end(({ begin }) => begin(part));
      },
      (cause: unknown) => this.#end(({ fail }) => fail(cause)),
    );
  }

  #end(how: (one: Waiting<Part>) => void): void {
    const all = this.#waiting;
    this.#waiting = [];
    this.#loading = undefined;
    for (const one of all) {
      how(one);
    }
  }
}
