import {
  type AppendOptions,
  assertCallOptions,
  assertCount,
  assertHistoryKey,
  assertHistoryRecords,
  assertListFilter,
  assertReadOptions,
  assertTimeout,
  type CallOptions,
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
import { assertOptions, type CallLimits, OnDemand } from "@agentfw/core/backend";
import { PROVIDER } from "./errors.ts";
import type { FoundryStateStore } from "./foundry-state-store.ts";
import type { Conversations } from "./history/conversations.ts";
import { encodeEdge, encodeListCursor, parseEdge, parseListCursor } from "./history/cursors.ts";
import { assertLasting } from "./lasting-store.ts";
import { REMEMBERED_IDS } from "./limits.ts";
import { historyEngine } from "./load-engine.ts";

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
 * *Start*: what asks the store is loaded in the background, from the constructor on. Calls that come before it is there
 * wait for it, in their order and within their time, and are `unavailable` when it cannot be loaded.
 *
 * *Limits*: one append holds up to 1,048,576 bytes. A store whose items expire is refused: old turns would vanish one by
 * one.
 */
export class FoundryHistoryStore implements HistoryStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: HistoryCapabilities = {
    dedupe: REMEMBERED_IDS,
    processes: "many",
    conditionalAppend: true,
    replace: false,
    list: true,
    ttl: false,
    maxRecords: false,
    maxRecordBytes: MAX_RECORD_BYTES,
  };

  readonly #timeoutMs: number;
  readonly #conversations: OnDemand<Conversations>;

  /**
   * @param store Opened with `itemTtlSeconds: -1`. It stays the caller's.
   * @throws `configuration` for another store, or an option that is none
   */
  constructor(store: FoundryStateStore, options: FoundryHistoryStoreOptions = {}) {
    assertLasting(store, "old turns");
    assertOptions(options, "options", ["timeoutMs"]);
    const { timeoutMs = 5_000 } = options;
    assertTimeout(timeoutMs, "timeoutMs");
    this.#timeoutMs = timeoutMs;
    this.#conversations = new OnDemand(PROVIDER, async () => new (await historyEngine.load()).Conversations(store));
  }

  async append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    assertCallOptions(options);
    assertHistoryKey(key);
    assertHistoryRecords(records, MAX_RECORD_BYTES);
    const { ifVersion } = options;
    // Copied: the caller may change them while others are ahead in the queue.
    const given = { key: copyOf(key), records: records.map(({ id, data }) => ({ id, data })), ifVersion };
    return this.#run("append", options, (conversations, limits) => conversations.append(given, limits));
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    assertReadOptions(options);
    assertHistoryKey(key);
    const { last, before, withFirst, onCorrupt } = options;
    const page = {
      key: copyOf(key),
      last,
      before: before === undefined ? undefined : parseEdge(before),
      withFirst,
      onCorrupt,
    };
    return this.#run("read", options, async (conversations, limits) => {
      const { start, ...found } = await conversations.read(page, limits);
      return start === undefined ? found : { ...found, older: encodeEdge(start) };
    });
  }

  /**
   * Removes the conversation at one point in time, and then deletes its turns, one request each. `outcome_unknown` when
   * time runs out meanwhile: the conversation is gone, and another call deletes the rest.
   */
  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    assertCallOptions(options);
    assertHistoryKey(key);
    const copy = copyOf(key);
    await this.#run("clear", options, (conversations, limits) => conversations.clear(copy, limits));
  }

  /** Pages over conversations, the oldest first; two requests for each. In an isolated store, those of the caller. */
  async list(filter: HistoryListFilter, options: HistoryListOptions = {}): Promise<HistoryList> {
    assertCallOptions(options);
    assertListFilter(filter);
    const { limit = 100, cursor } = options;
    assertCount(limit, "limit", 1);
    const page = { filter: { ...filter }, limit, after: cursor === undefined ? undefined : parseListCursor(cursor) };
    return this.#run("list", options, async (conversations, limits) => {
      const { items, next } = await conversations.list(page, limits);
      return next === undefined ? { items } : { items, cursor: encodeListCursor(next) };
    });
  }

  /** Releases nothing: the store stays open. */
  async close(): Promise<void> {}

  /** The call's time counts while the engine loads. */
  #run<T>(
    name: string,
    { signal }: CallOptions,
    work: (conversations: Conversations, limits: CallLimits) => Promise<T>,
  ): Promise<T> {
    return this.#conversations.runWithin(name, { timeoutMs: this.#timeoutMs, signal }, work);
  }
}

/** The caller may change theirs while the call waits. */
function copyOf({ owner, source, session }: HistoryKey): HistoryKey {
  return { owner, source, session };
}
