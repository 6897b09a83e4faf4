import {
  type AppendOptions,
  assertCallOptions,
  assertHistoryKey,
  assertListFilter,
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
  assertCallSize,
  type CallLimits,
  type CallSize,
  OnDemand,
  ownerToErase,
  ownHistoryRecords,
  ownListOptions,
  ownReadOptions,
} from "@agentfw/core/backend";
import { parseCursor } from "./cursor.ts";
import { DEDUPE_IDS } from "./dedupe.ts";
import type { Engine } from "./engine.ts";
import type { ErasedConversations, EraseFilter } from "./erasing.ts";
import { failure, PROVIDER } from "./errors.ts";
import { parseListCursor } from "./list-cursor.ts";
import { loadEngine } from "./load-engine.ts";
import {
  type BlobConnectionOptions,
  type BlobHistoryStoreOptions,
  resolveConnection,
  resolveOptions,
  type Settings,
} from "./options.ts";
import { type ConversationPlace, conversationPlace, ownerDirectory } from "./places.ts";
import { assertIdLengths } from "./record-ids.ts";

/** Ids and data of all records together, in one call. */
const CALL_SIZE: CallSize = { maxRecords: 100_000, maxBytes: 256 * 1024 * 1024 };
const MAX_ID_BYTES = 1024;
const ERASE_PAGE = 100;

/**
 * Conversations in append blobs of Azure Blob Storage, written by any number of processes.
 *
 * *Layout*: a folder for each conversation, of segments that are append blobs of JSON lines, one line and one block for a
 * turn. Layout version 1, under `prefix`.
 *
 * *Atomicity*: a block is there or not. Each is appended on the condition that the blob is as it was seen, so ids and
 * versions are judged by what the turn comes behind. A turn above 4 MiB counts when its last block is there.
 *
 * *Isolation*: owner, source and session are parts of the blobs' names, escaped or hashed; `list` and `erase` go by the
 * beginning of names that ends with a slash.
 *
 * *Failure*: what is sent can be sent twice under the same condition; a lost answer is looked for at the end of the blob.
 * A blob of another type or of someone else is `corrupt`, and stays as it is.
 *
 * *Limits*: the newest 1,000 ids are remembered; 100,000 records, with 256 MiB of ids and data, in one call. No replace,
 * expiry or trimming.
 *
 * *Security*: the service encrypts at rest. Owners and sessions stand in the names of blobs, which logs hold too.
 */
export class BlobHistoryStore implements HistoryStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: HistoryCapabilities;

  readonly #settings: Settings;
  readonly #engine: OnDemand<Engine>;

  /**
   * Checks the options, and begins to load what talks to the service; makes no request.
   *
   * @throws `configuration` naming the option and the rule.
   */
  constructor(connection: BlobConnectionOptions, options: BlobHistoryStoreOptions = {}) {
    const resolved = resolveConnection(connection);
    this.#settings = resolveOptions(options);
    const { list, conditionalAppend, maxRecordBytes, createContainer } = this.#settings;
    this.capabilities = {
      dedupe: DEDUPE_IDS,
      processes: "many",
      conditionalAppend,
      replace: false,
      list,
      ttl: false,
      maxRecords: false,
      maxRecordBytes,
    };
    this.#engine = new OnDemand(PROVIDER, async () => new (await loadEngine()).Engine(resolved, createContainer));
  }

  async append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    assertCallOptions(options);
    const { maxRecordBytes, conditionalAppend, segmentBytes, segmentBlocks, timeoutMs } = this.#settings;
    const place = this.#placeOf(key);
    const copies = ownHistoryRecords(records, maxRecordBytes);
    assertCallSize(copies, CALL_SIZE);
    assertIdLengths(copies, MAX_ID_BYTES);
    const { ifVersion, signal } = options;
    if (ifVersion !== undefined && !conditionalAppend) {
      throw failure("unsupported", "ifVersion: the store was made with conditionalAppend: false");
    }
    if (copies.length === 0) {
      const { version } = await this.read(key, { last: 1, onCorrupt: "skip", signal });
      return { version, appended: 0 };
    }
    const input = { records: copies, ifVersion, segmentBytes, segmentBlocks, timeoutMs };
    return this.#run("append", signal, (engine, limits) => engine.append(place, input, limits));
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    const { last = Number.POSITIVE_INFINITY, before, withFirst = false, onCorrupt, signal } = ownReadOptions(options);
    const place = this.#placeOf(key);
    const cursor = before === undefined ? undefined : parseCursor(before);
    const input = { last, cursor, withFirst, skipsCorrupt: onCorrupt === "skip" };
    return this.#run("read", signal, (engine, limits) => engine.read(place, input, limits));
  }

  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    assertCallOptions(options);
    const place = this.#placeOf(key);
    await this.#run("clear", options.signal, (engine, limits) => engine.clear(place, limits));
  }

  /** Not offered: what is in an append blob cannot be changed. @throws `unsupported` */
  async replace(): Promise<{ version: string }> {
    throw failure("unsupported", "replace: append blobs cannot be changed");
  }

  async list(filter: HistoryListFilter, options: HistoryListOptions = {}): Promise<HistoryList> {
    const { limit, cursor: text, signal } = ownListOptions(options);
    if (!this.#settings.list) {
      throw failure("unsupported", "list: the store was made with list: false");
    }
    assertListFilter(filter);
    const { prefix } = this.#settings;
    const begin = "owner" in filter ? ownerDirectory(prefix, filter.owner, filter.source) : `${prefix}/`;
    const cursor = text === undefined ? undefined : parseListCursor(text, begin);
    const task = { prefix, begin, source: filter.source, limit, cursor };
    return this.#run("list", signal, (engine, limits) => engine.list(task, limits));
  }

  /**
   * Clears every conversation of one owner, `null` for the unowned ones, and gives how many there were. Each request has
   * `timeoutMs`; a conversation that begins meanwhile may stay.
   *
   * @throws as `clear` does; what was cleared until then stays cleared, and the call can be repeated. `corrupt` and
   * `unsupported` come when all other conversations are cleared.
   */
  async erase(filter: EraseFilter, options: CallOptions = {}): Promise<ErasedConversations> {
    assertCallOptions(options);
    const owner = ownerToErase(filter);
    const { prefix, timeoutMs } = this.#settings;
    const { signal } = options;
    const range = { prefix, begin: ownerDirectory(prefix, owner), limit: ERASE_PAGE };
    return this.#run("erase", signal, (engine) => engine.erase(range, { timeoutMs, signal }));
  }

  /** Forgets what is kept in memory. A client that was passed in stays open; the store's own has nothing to close. */
  async close(): Promise<void> {
    await (await this.#engine.close(this.#settings.timeoutMs))?.close();
  }

  #placeOf(key: HistoryKey): ConversationPlace {
    assertHistoryKey(key);
    return conversationPlace(this.#settings.prefix, key, this.#settings.list);
  }

  #run<T>(
    name: string,
    signal: AbortSignal | undefined,
    work: (engine: Engine, limits: CallLimits) => Promise<T>,
  ): Promise<T> {
    return this.#engine.runWithin(name, { timeoutMs: this.#settings.timeoutMs, signal }, work);
  }
}
