import {
  type AppendOptions,
  assertCount,
  assertHistoryKey,
  assertHistoryRecords,
  assertListFilter,
  assertName,
  assertReadOptions,
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
import { BorrowedConnection } from "./borrowed-connection.ts";
import { Calls } from "./calls.ts";
import type { RedisClient } from "./client.ts";
import { type Connection, OwnConnection } from "./connection.ts";
import { type ConversationKeys, conversationKeys } from "./keys.ts";
import { listPage, parseListCursor } from "./listing.ts";
import {
  type RedisConnectionOptions,
  type RedisHistoryStoreOptions,
  resolveConnection,
  resolveOptions,
  type Settings,
} from "./options.ts";
import { pageOf, parseCursor, readCall, sliceOf } from "./reading.ts";
import { encodeId, encodeRecords, newStamp } from "./record-format.ts";
import { REPLACE } from "./replace-script.ts";
import { type Script, scriptCall } from "./script.ts";
import { assertCallSize, checkedRange, conditionOf } from "./write-input.ts";
import { appendedOf, replacedOf } from "./write-replies.ts";
import { APPEND, CLEAR } from "./write-scripts.ts";

/**
 * Conversations on Redis: one node, Sentinel or a Cluster, written by any number of processes.
 *
 * *Layout*: a LIST of `stamp|id|data` and a SET of ids for each conversation, named in the ZSET of its bucket. The 128
 * buckets are hash tags, so all keys of a conversation are in one slot. Layout version 1, under `keyPrefix`.
 *
 * *Atomicity*: each write is one Lua script: ids are judged, then the version, then everything is written, trimmed and
 * given its expiry. Each read of a page is one command.
 *
 * *Isolation*: owner, source and session are JSON text inside of the key; no key is ever used as a pattern.
 *
 * *Failure*: what is sent can be sent twice, so a lost answer is asked for again until the deadline. An element that is
 * no record and a key of another type are `corrupt`, and stay as they are.
 *
 * *Limits*: 100,000 records and 256 MiB in one call. What a failover of the server loses is lost. Redis 7.0 or later.
 *
 * *Security*: nothing is encrypted. Whoever may read the keys reads the conversations, and the owners' names in them.
 */
export class RedisHistoryStore implements HistoryStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: HistoryCapabilities;

  readonly #settings: Settings;
  readonly #connection: Connection;
  readonly #calls: Calls;

  /**
   * Checks the options; connects at the first call.
   *
   * @throws `configuration` naming the option and the rule.
   */
  constructor(connection: RedisConnectionOptions, options: RedisHistoryStoreOptions = {}) {
    const address = resolveConnection(connection);
    this.#settings = resolveOptions(options);
    const { timeoutMs, maxRecords, maxRecordBytes } = this.#settings;
    this.capabilities = {
      dedupe: maxRecords === 0 ? "all" : 1000,
      processes: "many",
      conditionalAppend: true,
      replace: true,
      list: true,
      ttl: true,
      maxRecords: true,
      maxRecordBytes,
    };
    this.#connection = "call" in address ? new BorrowedConnection(address) : new OwnConnection(address, timeoutMs);
    this.#calls = new Calls(this.#connection, timeoutMs);
  }

  async append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    const keys = this.#keys(key);
    this.#assertRecords(records);
    const condition = conditionOf(options.ifVersion);
    if (records.length === 0) {
      const { version } = await this.read(key, { last: 1, onCorrupt: "skip", signal: options.signal });
      return { version, appended: 0 };
    }
    const now = Date.now();
    const stamp = newStamp(now);
    const args = [condition, stamp, ...this.#limits(now), ...encodeRecords(records, stamp)];
    return appendedOf(await this.#write("append", APPEND, keys, args, options.signal), stamp);
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    const keys = this.#keys(key);
    assertReadOptions(options);
    const before = options.before === undefined ? undefined : parseCursor(options.before);
    const call = { name: "read", kind: "read", signal: options.signal } as const;
    const reply = await this.#calls.run({ ...call, ...readCall(keys, options, before) });
    return pageOf(sliceOf(reply, options, before), keys.records, options, before);
  }

  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    const keys = this.#keys(key);
    await this.#write("clear", CLEAR, keys, [], options.signal);
  }

  async replace(
    key: HistoryKey,
    range: { readonly fromId: string; readonly throughId: string },
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string }> {
    const keys = this.#keys(key);
    const { fromId, throughId } = checkedRange(range);
    this.#assertRecords(records);
    const condition = conditionOf(options.ifVersion);
    const now = Date.now();
    const stamp = newStamp(now);
    const run = [encodeId(fromId), encodeId(throughId)];
    const args = [condition, stamp, ...this.#limits(now), ...run, ...encodeRecords(records, stamp)];
    return replacedOf(await this.#write("replace", REPLACE, keys, args, options.signal), keys.records);
  }

  async list(filter: HistoryListFilter, options: HistoryListOptions = {}): Promise<HistoryList> {
    assertListFilter(filter);
    const { limit = 100, cursor, signal } = options;
    assertCount(limit, "limit", 1);
    if (cursor !== undefined) {
      assertName(cursor, "cursor");
    }
    const after = cursor === undefined ? undefined : parseListCursor(cursor);
    let isOver = false;
    const task = { filter: { ...filter }, limit, after, isOver: () => isOver };
    try {
      const send = (client: RedisClient) => listPage(client, this.#settings.keyPrefix, task);
      return await this.#calls.run({ name: "list", kind: "read", signal, send });
    } finally {
      isOver = true;
    }
  }

  /** Ends the connection that the store made; a later call makes a new one. A client that was passed in stays open. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  #keys(key: HistoryKey): ConversationKeys {
    assertHistoryKey(key);
    return conversationKeys(this.#settings.keyPrefix, key);
  }

  #assertRecords(records: readonly HistoryRecord[]): void {
    assertHistoryRecords(records, this.#settings.maxRecordBytes);
    assertCallSize(records);
  }

  /** What every write is told beside its condition and stamp. */
  #limits(now: number): string[] {
    const { ttlMs, maxRecords } = this.#settings;
    // What the index is told is rounded up, so that most writes find that it knows enough.
    const step = Math.ceil(ttlMs / 16);
    const indexTime = ttlMs === 0 ? 0 : (Math.floor(now / step) + 1) * step + ttlMs;
    return [String(ttlMs), String(maxRecords), String(indexTime)];
  }

  #write(
    name: string,
    script: Script,
    keys: ConversationKeys,
    args: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const names = [keys.records, keys.ids, keys.removed, keys.names, keys.expiries];
    return this.#calls.run({ name, kind: "write", signal, ...scriptCall(script, names, args) });
  }
}
