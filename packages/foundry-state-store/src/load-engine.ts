import { type CallOptions, withDeadline } from "@agentfw/core";
import { PROVIDER, stateError } from "./errors.ts";

/*
 * Whatever talks to the service or to the disk is in engines, one for each class, which are loaded on demand: importing the
 * package costs little, and a program that uses one class does not load what only another one needs. An engine is one part:
 * once it is there, nothing of its class can fail to load, in the middle of an outage or after a deployment.
 */

/** How each engine is loaded. */
export interface Engines {
  files: () => Promise<typeof import("./local/engine.ts")>;
  history: () => Promise<typeof import("./history/engine.ts")>;
  service: () => Promise<typeof import("./service/engine.ts")>;
}

/** The loaders. In an object, so that a test can put another one in the place of each. */
export const engines: Engines = {
  files: () => import("./local/engine.ts"),
  history: () => import("./history/engine.ts"),
  service: () => import("./service/engine.ts"),
};

/** Loads an engine for a call that opens a store. @throws `unavailable`, `timeout`, the abort reason; nothing was sent */
export function loadEngine<T>(
  load: () => Promise<T>,
  { timeoutMs, signal }: CallOptions & { readonly timeoutMs: number },
): Promise<T> {
  return withDeadline("getOrCreate", { kind: "read", provider: PROVIDER, timeoutMs, signal }, () =>
    load().catch(failToLoad),
  );
}

/** An engine of an object that is constructed: it is loaded in the background, and calls wait for it. */
export class BackgroundEngine<T> {
  readonly #load: () => Promise<T>;
  #loading: Promise<T> | undefined;
  #loaded: T | undefined;

  /** Begins to load. That it fails is told by {@link use}. */
  constructor(load: () => Promise<T>) {
    this.#load = load;
    this.#loading = this.#begin();
  }

  /**
   * Calls `work` with the engine, at once when it is there; until then calls wait, and go on in their order. One that finds
   * that loading has failed tries again: a process may have had too many files open for a moment.
   *
   * @throws `unavailable` when it cannot be loaded
   */
  use<R>(work: (engine: T) => Promise<R>): Promise<R> {
    if (this.#loaded !== undefined) {
      return work(this.#loaded);
    }
    this.#loading ??= this.#begin();
    return this.#loading.then(work, failToLoad);
  }

  #begin(): Promise<T> {
    const loading = this.#load();
    // The first who hear of it, right before those who wait: no later call may find the engine and be ahead of them.
    loading.then(
      (engine) => {
        this.#loaded = engine;
      },
      () => {
        this.#loading = undefined;
      },
    );
    return loading;
  }
}

function failToLoad(cause: unknown): never {
  throw stateError("unavailable", "a part of the package could not be loaded", { cause });
}
