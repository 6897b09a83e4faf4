import {
  AgentFrameworkError,
  type AppendOptions,
  type CallOptions,
  type HistoryCapabilities,
  type HistoryKey,
  type HistoryPage,
  type HistoryRecord,
  type HistoryStore,
  type ReadOptions,
} from "@agentfw/core";
import type { Mishap } from "./protocol.ts";

/** The mishap of one run, which happens once, when the run has passed as many points as it says. */
export class Mishaps {
  readonly controller: AbortController = new AbortController();
  readonly #mishap: Mishap;
  #left: number;
  #outageCalls = 0;

  constructor(mishap: Mishap) {
    this.#mishap = mishap;
    this.#left = mishap.at;
  }

  /** True from the point on at which the mishap is due; it is then over. */
  isDue(...kinds: Mishap["kind"][]): boolean {
    this.#left -= 1;
    if (this.#left > 0 || this.#left < -1000 || !kinds.includes(this.#mishap.kind)) {
      return false;
    }
    this.#left = -2000;
    return true;
  }

  /** A point in the model or in a tool. */
  async pass(): Promise<void> {
    if (this.isDue("abort", "kill", "model-error")) {
      if (this.#mishap.kind === "model-error") {
        throw new Error("the service is overloaded");
      }
      this.#strike();
    }
    // Long enough for runs in other processes to come in between.
    await new Promise((resolve) => setTimeout(resolve, 3));
  }

  /** A call of the store. */
  async around<T>(isWrite: boolean, call: () => Promise<T>): Promise<T> {
    if (this.#outageCalls > 0 || this.isDue("outage")) {
      this.#outageCalls = this.#outageCalls === 0 ? 2 : this.#outageCalls - 1;
      throw new AgentFrameworkError("unavailable", "the store is away");
    }
    if (this.isDue("abort", "kill")) {
      this.#strike();
    }
    if (this.isDue("silent-store")) {
      return new Promise(() => undefined);
    }
    if (isWrite && this.isDue("kill-in-write")) {
      const written = call();
      this.#killSoon(this.#mishap.at % 7);
      return written;
    }
    const result = await call();
    if (isWrite && this.isDue("lost-reply")) {
      throw new AgentFrameworkError("outcome_unknown", "the answer was lost");
    }
    if (this.isDue("abort", "kill")) {
      this.#strike();
    }
    return result;
  }

  #strike(): void {
    if (this.#mishap.kind === "abort") {
      this.controller.abort();
    } else {
      die();
    }
  }

  /** After some rounds of the event loop, in which the write goes as far as it goes. */
  #killSoon(rounds: number): void {
    if (rounds === 0) {
      die();
    }
    setImmediate(() => this.#killSoon(rounds - 1));
  }
}

/** The process ends here, with nothing said and nothing cleaned up. */
function die(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;) {
    // The signal is on its way.
  }
}

/** A real store whose calls meet the mishaps of a run. */
export class FaultyStore implements HistoryStore {
  readonly contractVersion = 1 as const;
  readonly capabilities: HistoryCapabilities;
  readonly #store: HistoryStore;
  readonly #mishaps: Mishaps;

  constructor(store: HistoryStore, mishaps: Mishaps) {
    this.capabilities = store.capabilities;
    this.#store = store;
    this.#mishaps = mishaps;
  }

  append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    return this.#mishaps.around(true, () => this.#store.append(key, records, options));
  }

  read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    return this.#mishaps.around(false, () => this.#store.read(key, options));
  }

  clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    return this.#mishaps.around(true, () => this.#store.clear(key, options));
  }
}
