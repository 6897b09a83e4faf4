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

/** One call of a store. */
export interface StoreCall {
  readonly name: "append" | "read" | "clear";
  readonly records: readonly HistoryRecord[];
  readonly isAborted: boolean;
}

/** A store over real data that keeps what it was asked, and whose calls wait for what a test wants to happen before. */
export class ObservedStore implements HistoryStore {
  readonly contractVersion = 1 as const;
  readonly capabilities: HistoryCapabilities;
  readonly calls: StoreCall[] = [];
  readonly #data: HistoryStore;
  readonly #before: (call: StoreCall, count: number) => unknown;

  /** @param before is told how many calls there are with this one; what it throws is the call's outcome. */
  constructor(data: HistoryStore, before: (call: StoreCall, count: number) => unknown = () => undefined) {
    this.#data = data;
    this.#before = before;
    this.capabilities = data.capabilities;
  }

  async append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    await this.#enter("append", records, options);
    return this.#data.append(key, records, options);
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    await this.#enter("read", [], options);
    return this.#data.read(key, options);
  }

  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    await this.#enter("clear", [], options);
    await this.#data.clear(key, options);
  }

  async #enter(name: StoreCall["name"], records: readonly HistoryRecord[], { signal }: CallOptions): Promise<void> {
    const call = { name, records, isAborted: signal?.aborted ?? false };
    this.calls.push(call);
    await this.#before(call, this.calls.length);
  }
}

/** A store that takes its time. */
export function slowStore(data: HistoryStore, delayMs: number): ObservedStore {
  return new ObservedStore(data, () => new Promise((resolve) => setTimeout(resolve, delayMs)));
}
