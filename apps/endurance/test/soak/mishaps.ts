import type {
  AppendOptions,
  CallOptions,
  HistoryCapabilities,
  HistoryKey,
  HistoryPage,
  HistoryRecord,
  HistoryStore,
  ReadOptions,
} from "@agentfw/core";
import { afterRounds, type Faults } from "./faults.ts";
import type { Mishap } from "./protocol.ts";

/** How many calls of the store an outage meets, if the run makes as many. */
const OUTAGE_CALLS = 3;

/** The mishap of one run, which happens once, when the run has passed as many points as it says. */
export class Mishaps {
  readonly controller: AbortController = new AbortController();
  readonly #mishap: Mishap;
  readonly #faults: Faults;
  readonly #onDue: (kind: Mishap["kind"]) => void;
  #left: number;
  #outageCalls = 0;

  /** @param onDue hears of the mishap right before it happens. */
  constructor(mishap: Mishap, faults: Faults, onDue: (kind: Mishap["kind"]) => void) {
    this.#mishap = mishap;
    this.#faults = faults;
    this.#onDue = onDue;
    this.#left = mishap.at;
  }

  /** True from the point on at which the mishap is due; it is then over. */
  isDue(...kinds: Mishap["kind"][]): boolean {
    this.#left -= 1;
    if (this.#left > 0 || this.#left < -1000 || !kinds.includes(this.#mishap.kind)) {
      return false;
    }
    this.#left = -2000;
    this.#onDue(this.#mishap.kind);
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
      this.#outageCalls = this.#outageCalls === 0 ? OUTAGE_CALLS : this.#outageCalls;
      return this.#away(call);
    }
    if (this.isDue("abort", "kill")) {
      this.#strike();
    }
    if (this.isDue("silent-store")) {
      return this.#faults.silent(call);
    }
    if (this.isDue("cut")) {
      return this.#faults.cut(call, this.#mishap.at % 9);
    }
    if (isWrite && this.isDue("lost-reply")) {
      return this.#faults.lostReply(call);
    }
    const result = await this.#withStrike(isWrite, call);
    if (this.isDue("abort", "kill")) {
      this.#strike();
    }
    return result;
  }

  /** Nothing goes wrong from now on. */
  async end(): Promise<void> {
    this.#outageCalls = 0;
    await this.#faults.end();
  }

  async #away<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await this.#faults.away(call);
    } finally {
      this.#outageCalls -= 1;
      if (this.#outageCalls <= 0) {
        await this.end();
      }
    }
  }

  /** A call in the middle of which the run is aborted, or a write in the middle of which the process ends. */
  async #withStrike<T>(isWrite: boolean, call: () => Promise<T>): Promise<T> {
    const called = call();
    if (isWrite && this.isDue("abort-in-write", "kill-in-write")) {
      // The call may end in the meantime, and with an error.
      called.catch(() => undefined);
      await afterRounds(this.#mishap.at % 9);
      this.#strike();
    }
    return called;
  }

  #strike(): void {
    if (this.#mishap.kind === "abort" || this.#mishap.kind === "abort-in-write") {
      this.controller.abort();
    } else {
      die();
    }
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
