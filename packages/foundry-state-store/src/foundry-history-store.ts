import {
  type AppendOptions,
  assertCallOptions,
  assertCount,
  assertHistoryKey,
  assertHistoryRecords,
  assertListFilter,
  assertObject,
  assertReadOptions,
  assertTimeout,
  type CallOptions,
  configurationError,
  type HistoryCapabilities,
  type HistoryKey,
  type HistoryList,
  type HistoryListFilter,
  type HistoryListOptions,
  type HistoryPage,
  type HistoryRecord,
  type HistoryStore,
  type ReadOptions,
} from "@agentfw/core";
import type { FoundryStateStore } from "./foundry-state-store.ts";
import { append } from "./history/appending.ts";
import { Chain } from "./history/chain.ts";
import { clear } from "./history/clearing.ts";
import { list } from "./history/listing.ts";
import { placeOf } from "./history/names.ts";
import { runOperation } from "./history/operation.ts";
import { read } from "./history/reading.ts";
import { WINDOW } from "./history/tail.ts";
import { noMemory, TailCache } from "./history/tail-cache.ts";
import { KeyedQueue } from "./keyed-queue.ts";
import { NEVER_EXPIRES } from "./limits.ts";

/** Options of {@link FoundryHistoryStore}. */
export interface FoundryHistoryStoreOptions {
  /** Every call settles within this many milliseconds, all of its requests included. @default 5,000 */
  readonly timeoutMs?: number | undefined;
}

/** Largest record: as much as fits into an item, whatever is in it. */
const MAX_RECORD_BYTES = 1_000_000;

/**
 * Conversations in a Foundry state store, or in the files that stand in for one.
 *
 * *Layout*: a head for each conversation, and an item for each append, created once and never changed. Layout version 1.
 *
 * *Atomicity*: an append is one create-only item, so the service decides which of several writers is next, and none of
 * them waits for a lock.
 *
 * *Cost*: an append is two requests, one more for the first; a read three, and one for each turn of the page. Where
 * users are kept apart, each append reads the last turns first.
 *
 * *Failure*: an append whose answer was lost is sent again until it is known what became of it.
 *
 * *Limits*: one append holds up to 1,048,576 bytes. A store whose items expire is refused: old turns would vanish one by
 * one.
 */
export class FoundryHistoryStore implements HistoryStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: HistoryCapabilities = {
    dedupe: WINDOW,
    processes: "many",
    conditionalAppend: true,
    replace: false,
    list: true,
    ttl: false,
    maxRecords: false,
    maxRecordBytes: MAX_RECORD_BYTES,
  };

  readonly #store: FoundryStateStore;
  readonly #timeoutMs: number;
  readonly #appends = new KeyedQueue();
  readonly #tails = new TailCache();

  /**
   * @param store Opened with `itemTtlSeconds: -1`. It stays the caller's.
   * @throws `configuration` for another store, or an option that is none
   */
  constructor(store: FoundryStateStore, options: FoundryHistoryStoreOptions = {}) {
    // Not instanceof: two copies of this package may be installed.
    if (typeof store?.iterateItemKeys !== "function") {
      throw configurationError("store", "must be a FoundryStateStore");
    }
    if (store.properties.itemTtlSeconds !== NEVER_EXPIRES) {
      throw configurationError("store", "must have been created with itemTtlSeconds: -1, or old turns would vanish");
    }
    assertObject(options, "options");
    const unknown = Object.keys(options).find((name) => name !== "timeoutMs");
    if (unknown !== undefined) {
      throw configurationError(unknown, "is not an option of FoundryHistoryStore");
    }
    const { timeoutMs = 5_000 } = options;
    assertTimeout(timeoutMs, "timeoutMs");
    this.#store = store;
    this.#timeoutMs = timeoutMs;
  }

  async append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    assertCallOptions(options);
    assertHistoryKey(key);
    assertHistoryRecords(records, MAX_RECORD_BYTES);
    const place = placeOf(key);
    const { ifVersion, signal } = options;
    // Copied: the caller may change them while others are ahead in the queue.
    const copies = records.map(({ id, data }) => ({ id, data }));
    // Users that are kept apart have conversations of one name each, and only the service tells them apart.
    const memory = this.#store.properties.userIsolation ? noMemory : this.#tails.of(place.hash);
    return runOperation({
      ...{ name: "append", kind: "write", timeoutMs: this.#timeoutMs, signal },
      run: (giveUp, progress) =>
        this.#appends.run(place.hash, () =>
          append(new Chain(this.#store, place, { signal: giveUp }), { records: copies, ifVersion, progress }, memory),
        ),
    });
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    assertReadOptions(options);
    assertHistoryKey(key);
    const place = placeOf(key);
    return runOperation({
      ...{ name: "read", kind: "read", timeoutMs: this.#timeoutMs, signal: options.signal },
      run: (giveUp) => read(new Chain(this.#store, place, { signal: giveUp }), options),
    });
  }

  /**
   * Removes the conversation at one point in time, and then deletes its turns, one request each. `outcome_unknown` when
   * time runs out meanwhile: the conversation is gone, and another call deletes the rest.
   */
  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    assertCallOptions(options);
    assertHistoryKey(key);
    const place = placeOf(key);
    await runOperation({
      ...{ name: "clear", kind: "write", timeoutMs: this.#timeoutMs, signal: options.signal },
      run: (giveUp, progress) => clear(new Chain(this.#store, place, { signal: giveUp }), progress),
    });
  }

  /** Pages over conversations, the oldest first; two requests for each. In an isolated store, those of the caller. */
  async list(filter: HistoryListFilter, options: HistoryListOptions = {}): Promise<HistoryList> {
    assertCallOptions(options);
    assertListFilter(filter);
    const { limit = 100, cursor } = options;
    assertCount(limit, "limit", 1);
    return runOperation({
      ...{ name: "list", kind: "read", timeoutMs: this.#timeoutMs, signal: options.signal },
      run: (giveUp) => list(this.#store, filter, { limit, cursor, signal: giveUp }),
    });
  }

  /** Releases nothing: the store stays open. */
  async close(): Promise<void> {}
}
