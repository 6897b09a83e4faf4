import { withDeadline } from "@agentfw/core";
import { OnDemand } from "@agentfw/core/backend";
import { PROVIDER } from "./provider.ts";

/** How long a call may take, and what ends it early. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** What a call does with the engine. Milliseconds that it waited for the engine are gone from the limits. */
export type EngineTask<Engine, Result> = (engine: Engine, limits: CallLimits) => Promise<Result>;

/**
 * The part of the package that talks to the server. It is loaded in the background as soon as there is a store, because a
 * program that starts can still be helped, and one in the middle of an outage cannot.
 */
export class EngineLoader<Engine> {
  readonly #onDemand: OnDemand<Engine>;
  readonly #timeoutMs: number;

  /** @param timeoutMs What a call may take, the wait for the engine included. */
  constructor(load: () => Promise<Engine>, timeoutMs: number) {
    this.#onDemand = new OnDemand(PROVIDER, load);
    this.#timeoutMs = timeoutMs;
  }

  /** The engine, once it is there. */
  get engine(): Engine | undefined {
    return this.#onDemand.loaded;
  }

  /** Resolves when all that waited for the engine has begun, or failed; no later than a call would. */
  async settled(): Promise<void> {
    await this.#onDemand.settled(this.#timeoutMs);
  }

  /**
   * Runs a task with the engine: at once, or when the engine is there. Tasks begin in the order of the calls.
   *
   * @throws what the task throws; `unavailable` when the engine cannot be loaded, which the next call tries again; `timeout`
   * or the abort reason when it is not there in time. The task has not begun then, and never will.
   */
  run<Result>(name: string, signal: AbortSignal | undefined, task: EngineTask<Engine, Result>): Promise<Result> {
    const engine = this.#onDemand.loaded;
    return engine === undefined
      ? this.#runOnceLoaded(name, signal, task)
      : task(engine, { timeoutMs: this.#timeoutMs, signal });
  }

  #runOnceLoaded<Result>(
    name: string,
    signal: AbortSignal | undefined,
    task: EngineTask<Engine, Result>,
  ): Promise<Result> {
    const start = performance.now();
    const timeoutMs = this.#timeoutMs;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      let isGivenUp = false;
      const giveUp = (error: unknown) => {
        isGivenUp = true;
        signal?.removeEventListener("abort", onAbort);
        // Without effect on a task that has begun: it has a deadline of its own.
        reject(error);
      };
      const onAbort = () => giveUp(signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      const begin = async (engine: Engine) => {
        // Not two listeners for one call: Node warns of a signal that has many.
        signal?.removeEventListener("abort", onAbort);
        if (!isGivenUp) {
          const left = Math.max(1, Math.ceil(timeoutMs - (performance.now() - start)));
          resolve(task(engine, { timeoutMs: left, signal }));
        }
      };
      const deadline = { kind: "read", provider: PROVIDER, timeoutMs } as const;
      withDeadline(name, deadline, () => this.#onDemand.run(name, begin)).catch(giveUp);
    });
  }
}
