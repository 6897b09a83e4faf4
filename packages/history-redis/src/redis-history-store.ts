import {
  type AppendOptions,
  assertCallOptions,
  assertCount,
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
import { assertIfVersion, assertRange, assertRecords, ownListFilter, ServerCalls } from "@agentfw/core/backend";
import { resolveConnection } from "./address.ts";
import { Appending } from "./appending.ts";
import type { RedisClient } from "./client.ts";
import { Conversations, NOW } from "./conversations.ts";
import { BUCKETS, keysOfName } from "./keys.ts";
import { type Engine, loadEngine, type Request } from "./load-engine.ts";
import {
  type RedisHistoryStoreConnection,
  type RedisHistoryStoreOptions,
  resolveOptions,
  type Settings,
} from "./options.ts";
import { parseListCursor, parsePageCursor, readCall } from "./read-input.ts";
import { encodeId, newStamp, pushElements } from "./record-format.ts";
import { scriptCall } from "./script-call.ts";
import { conditionOf, MOST_IN_ONE_CALL } from "./write-input.ts";

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
 * *Failure*: what can be sent twice is, so a lost answer is asked for again until the deadline; `clear`, and `replace` by
 * the same ids without `ifVersion`, are `outcome_unknown` then. An element that is no record and a key of another type are
 * `corrupt`, and stay as they are.
 *
 * *Limits*: 100,000 records and 256 MiB in one call. What a failover of the server loses is lost. Redis 7.0 or later.
 *
 * *Security*: nothing is encrypted. Whoever may read the keys reads the conversations, and the owners' names in them.
 */
export class RedisHistoryStore implements HistoryStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: HistoryCapabilities;

  readonly #settings: Settings;
  readonly #calls: ServerCalls<RedisClient, Engine>;
  readonly #conversations: Conversations;
  readonly #appending: Appending;

  /**
   * Checks the options, and begins to load the part of the package that talks to the server; connects at the first call.
   *
   * @throws `configuration` naming the option and the rule.
   */
  constructor(connection: RedisHistoryStoreConnection, options: RedisHistoryStoreOptions = {}) {
    const server = resolveConnection(connection);
    this.#settings = resolveOptions(options);
    const { keyPrefix, timeoutMs, ttlMs, maxRecords, maxRecordBytes } = this.#settings;
    this.capabilities = {
      dedupe: maxRecords === undefined ? "all" : 1000,
      processes: "many",
      conditionalAppend: true,
      replace: true,
      list: true,
      ttl: true,
      maxRecords: true,
      maxRecordBytes,
    };
    this.#calls = new ServerCalls("history-redis", timeoutMs, () => loadEngine(server, timeoutMs));
    this.#conversations = new Conversations(keyPrefix);
    this.#appending = new Appending(ttlMs, maxRecords);
  }

  append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    if (Array.isArray(records) && records.length === 0) {
      return this.#appendNothing(key, options);
    }
    return this.#calls.run(() => {
      const conversation = this.#conversations.find(key);
      assertCallOptions(options);
      assertRecords(records, this.#settings.maxRecordBytes, MOST_IN_ONE_CALL);
      const condition = conditionOf(options.ifVersion);
      const stamp = newStamp(Date.now());
      return this.#appending.request({ conversation, records, condition, stamp, signal: options.signal });
    });
  }

  read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    return this.#calls.run(() => {
      const conversation = this.#conversations.find(key);
      const { keys } = conversation;
      assertReadOptions(options);
      const { last, onCorrupt, withFirst, signal } = options;
      const before = options.before === undefined ? undefined : parsePageCursor(options.before);
      const page = { last, onCorrupt, withFirst };
      const { send, sendWhole } = readCall(keys, page, before);
      const receive: Request<HistoryPage>["receive"] = (reply, engine) => {
        const slice = engine.sliceOf(reply, page, before);
        if (slice.version === "") {
          // It is gone, or was never there: the next append begins it.
          conversation.due = NOW;
        }
        return engine.pageOf(slice, keys.records, page, before);
      };
      return { name: "read", kind: "read", mayRepeat: true, signal, send, sendWhole, receive };
    });
  }

  clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    return this.#calls.run(() => {
      const conversation = this.#conversations.find(key);
      assertCallOptions(options);
      conversation.due = NOW;
      const { send, sendWhole } = scriptCall("clear", Object.values(conversation.keys), []);
      const receive = () => undefined;
      return { name: "clear", kind: "write", mayRepeat: false, signal: options.signal, send, sendWhole, receive };
    });
  }

  replace(
    key: HistoryKey,
    range: { readonly fromId: string; readonly throughId: string },
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string }> {
    return this.#calls.run(() => {
      const { keys } = this.#conversations.find(key);
      assertCallOptions(options);
      const { fromId, throughId } = assertRange(range);
      assertRecords(records, this.#settings.maxRecordBytes, MOST_IN_ONE_CALL);
      const condition = conditionOf(options.ifVersion);
      const stamp = newStamp(Date.now());
      const run = [encodeId(fromId), encodeId(throughId)];
      const { ttlMs, maxRecords } = this.#settings;
      const head = [condition, String(ttlMs), String(maxRecords ?? ""), stamp, ...run];
      const newIds = records.map(({ id }) => id);
      const args = head.concat(newIds.map(encodeId));
      pushElements(args, records, stamp);
      const receive: Request<{ version: string }>["receive"] = (reply, engine) =>
        engine.replacedOf(reply, keys.records);
      // Records that keep both ends of the range would be put in place of what somebody made of them since.
      const mayRepeat = options.ifVersion !== undefined || ![fromId, throughId].every((end) => newIds.includes(end));
      const { send, sendWhole } = scriptCall("replace", Object.values(keys), args);
      return { name: "replace", kind: "write", mayRepeat, signal: options.signal, send, sendWhole, receive };
    });
  }

  list(filter: HistoryListFilter, options: HistoryListOptions = {}): Promise<HistoryList> {
    return this.#calls.run(() => {
      const wanted = ownListFilter(filter);
      assertCallOptions(options);
      const { limit = 100, cursor, signal } = options;
      assertCount(limit, "limit", 1);
      const after = cursor === undefined ? undefined : parseListCursor(cursor);
      const keysOf = (name: string, bucket: number) => keysOfName(this.#settings.keyPrefix, name, bucket);
      const task = { filter: wanted, limit, after, buckets: BUCKETS, keysOf };
      const send: Request<HistoryList, HistoryList>["send"] = (client, engine, call) =>
        engine.listPage(client, task, call);
      return { name: "list", kind: "read", mayRepeat: true, signal, send, receive: (page) => page };
    });
  }

  /** Ends the connection that the store made, after the calls under way. A client that was passed in stays open. */
  async close(): Promise<void> {
    await this.#calls.close();
  }

  async #appendNothing(key: HistoryKey, options: AppendOptions): Promise<{ version: string; appended: 0 }> {
    assertCallOptions(options);
    assertIfVersion(options.ifVersion);
    const { version } = await this.read(key, { last: 1, onCorrupt: "skip", signal: options.signal });
    return { version, appended: 0 };
  }
}
