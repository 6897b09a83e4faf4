import {
  type AppendOptions,
  assertCallOptions,
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
import {
  assertOptions,
  type CallLimits,
  OnDemand,
  ownHistoryKey,
  ownHistoryRecords,
  ownListFilter,
  ownListOptions,
  ownReadOptions,
} from "@agentfw/core/backend";
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
    const { ifVersion } = options;
    const given = { key: ownHistoryKey(key), records: ownHistoryRecords(records, MAX_RECORD_BYTES), ifVersion };
    return this.#run("append", options, (conversations, limits) => conversations.append(given, limits));
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    const { before, ...page } = ownReadOptions(options);
    const asked = { ...page, key: ownHistoryKey(key), before: before === undefined ? undefined : parseEdge(before) };
    return this.#run("read", options, async (conversations, limits) => {
      const { start, ...found } = await conversations.read(asked, limits);
      return start === undefined ? found : { ...found, older: encodeEdge(start) };
    });
  }

  /**
   * Removes the conversation at one point in time, and then deletes its turns, one request each. `outcome_unknown` when
   * time runs out meanwhile: the conversation is gone, and another call deletes the rest.
   */
  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    assertCallOptions(options);
    const given = ownHistoryKey(key);
    await this.#run("clear", options, (conversations, limits) => conversations.clear(given, limits));
  }

  /** Pages over conversations, the oldest first; two requests for each. In an isolated store, those of the caller. */
  async list(filter: HistoryListFilter, options: HistoryListOptions = {}): Promise<HistoryList> {
    const { limit, cursor } = ownListOptions(options);
    const after = cursor === undefined ? undefined : parseListCursor(cursor);
    const page = { filter: ownListFilter(filter), limit, after };
    return this.#run("list", options, async (conversations, limits) => {
      const { items, next } = await conversations.list(page, limits);
      return next === undefined ? { items } : { items, cursor: encodeListCursor(next) };
    });
  }

  /** Releases nothing: the store that it was made over stays open. */
  async close(): Promise<void> {
    await this.#conversations.close(this.#timeoutMs);
  }

  /** The call's time counts while the engine loads. */
  #run<T>(
    name: string,
    { signal }: CallOptions,
    work: (conversations: Conversations, limits: CallLimits) => Promise<T>,
  ): Promise<T> {
    return this.#conversations.runWithin(name, { timeoutMs: this.#timeoutMs, signal }, work);
  }
}
