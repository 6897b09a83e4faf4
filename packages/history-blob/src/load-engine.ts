import { AgentFrameworkError } from "@agentfw/core";
import type { Call, CallBody } from "./call.ts";
import type { Engine } from "./engine.ts";
import { PROVIDER } from "./errors.ts";

/** Loads what talks to the service. It is one file: where it is there, nothing else of the package can be missing later. */
export function loadEngine(): Promise<typeof import("./engine.ts")> {
  return import("./engine.ts");
}

/** The engine of one store, on its way from the store's construction on. */
export class EngineLoader {
  /** Undefined until it is loaded. */
  engine: Engine | undefined;
  readonly #load: () => Promise<Engine>;
  #loading: Promise<Engine> | undefined;

  constructor(load: () => Promise<Engine>) {
    this.#load = load;
    void this.#begin();
  }

  /**
   * Hands a call over to the engine: at once where that is loaded, else when it is, in the order of the calls.
   *
   * @throws `unavailable` when it cannot be loaded; a later call tries again
   */
  run<T>(call: Call, body: CallBody<T>): Promise<T> {
    if (this.engine !== undefined) {
      return body(this.engine, call);
    }
    return (this.#loading ?? this.#begin()).then(
      (engine) => body(engine, call),
      (cause: unknown) => {
        const message = `${call.name}: a part of the package could not be loaded`;
        throw new AgentFrameworkError("unavailable", message, { provider: PROVIDER, cause });
      },
    );
  }

  /** Resolves when it is loaded, or cannot be. */
  async settled(): Promise<void> {
    await this.#loading?.catch(() => undefined);
  }

  #begin(): Promise<Engine> {
    const loading = this.#load();
    this.#loading = loading;
    // The first reaction, before that of any call that waits: none that comes later can go before those.
    loading.then(
      (engine) => {
        this.engine = engine;
      },
      () => {
        this.#loading = undefined;
      },
    );
    return loading;
  }
}
