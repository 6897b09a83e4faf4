import {
  type AppendOptions,
  assertCallOptions,
  assertCount,
  assertHistoryKey,
  assertHistoryRecords,
  assertListFilter,
  assertReadOptions,
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
import { appendTurn } from "./appending.ts";
import { type Call, runCall } from "./call.ts";
import { clearConversation } from "./clearing.ts";
import { Conversations } from "./conversations.ts";
import { type ErasedConversations, type EraseFilter, eraseOwner } from "./erasing.ts";
import { unsupportedError } from "./errors.ts";
import { KeyedQueue } from "./keyed-queue.ts";
import { listConversations, parseListCursor } from "./listing.ts";
import { conversationPlace } from "./names.ts";
import type { Task } from "./observing.ts";
import { openContainer } from "./open-container.ts";
import {
  type BlobConnectionOptions,
  type BlobHistoryStoreOptions,
  resolveConnection,
  resolveOptions,
  type Settings,
} from "./options.ts";
import { parseCursor, readPage } from "./reading.ts";
import { Service } from "./service.ts";
import { DEDUPE_IDS } from "./tail.ts";
import { assertCallSize } from "./write-input.ts";

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
 * *Limits*: the newest 1,000 ids are remembered; 100,000 records and 256 MiB in one call. No replace, expiry or trimming.
 *
 * *Security*: the service encrypts at rest. Owners and sessions stand in the names of blobs, which logs hold too.
 */
export class BlobHistoryStore implements HistoryStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: HistoryCapabilities;

  readonly #settings: Settings;
  readonly #service: Service;
  readonly #conversations = new Conversations();
  readonly #queue = new KeyedQueue();

  /**
   * Checks the options; makes no request.
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
    const open = async () => ("container" in resolved ? resolved.container : openContainer(resolved.address));
    this.#service = new Service(open, createContainer);
  }

  async append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    assertCallOptions(options);
    const { maxRecordBytes, segmentBytes, segmentBlocks, timeoutMs } = this.#settings;
    const place = this.#placeOf(key);
    assertHistoryRecords(records, maxRecordBytes);
    assertCallSize(records);
    const { ifVersion, signal } = options;
    this.#assertCondition(ifVersion);
    if (records.length === 0) {
      const { version } = await this.read(key, { last: 1, onCorrupt: "skip", signal });
      return { version, appended: 0 };
    }
    // What the caller does to the list afterwards is none of ours.
    const copies = records.map(({ id, data }) => ({ id, data }));
    const input = { records: copies, ifVersion, segmentBytes, segmentBlocks, timeoutMs };
    return this.#write("append", place, signal, (task) => appendTurn(task, input));
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    assertReadOptions(options);
    const place = this.#placeOf(key);
    const cursor = options.before === undefined ? undefined : parseCursor(options.before);
    return this.#run("read", options.signal, (call) => readPage(this.#taskOf(call, place), options, cursor));
  }

  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    assertCallOptions(options);
    await this.#write("clear", this.#placeOf(key), options.signal, clearConversation);
  }

  /** Not offered: what is in an append blob cannot be changed. @throws `unsupported` */
  async replace(): Promise<{ version: string }> {
    throw unsupportedError("replace: append blobs cannot be changed");
  }

  async list(filter: HistoryListFilter, options: HistoryListOptions = {}): Promise<HistoryList> {
    assertCallOptions(options);
    if (!this.#settings.list) {
      throw unsupportedError("list: the store was made with list: false");
    }
    assertListFilter(filter);
    const { limit = 100, signal } = options;
    assertCount(limit, "limit", 1);
    const { prefix } = this.#settings;
    const cursor = options.cursor === undefined ? undefined : parseListCursor(options.cursor, { prefix, filter });
    return this.#run("list", signal, (call) =>
      listConversations(call, this.#service, { prefix, filter, limit, cursor }),
    );
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
    const { signal } = options;
    return eraseOwner(filter, {
      prefix: this.#settings.prefix,
      page: (next) => this.#run("erase", signal, (call) => next(call, this.#service)),
      clear: (directory) => this.#write("erase", { directory, names: undefined }, signal, clearConversation),
    });
  }

  /** Forgets what is kept in memory. A client that was passed in stays open; the store's own has nothing to close. */
  async close(): Promise<void> {
    await this.#queue.settled();
    this.#conversations.clear();
  }

  #placeOf(key: HistoryKey): { directory: string; names: string | undefined } {
    assertHistoryKey(key);
    return conversationPlace(this.#settings.prefix, key, this.#settings.list);
  }

  #taskOf(call: Call, { directory, names }: { directory: string; names: string | undefined }): Task {
    return { call, service: this.#service, conversation: this.#conversations.find(directory, names) };
  }

  #assertCondition(ifVersion: unknown): void {
    if (ifVersion !== undefined && typeof ifVersion !== "string") {
      throw configurationError("ifVersion", "must be a version that the store gave, or the empty text");
    }
    if (ifVersion !== undefined && !this.#settings.conditionalAppend) {
      throw unsupportedError("ifVersion: the store was made with conditionalAppend: false");
    }
  }

  #run<T>(name: string, signal: AbortSignal | undefined, body: (call: Call) => Promise<T>): Promise<T> {
    return runCall(name, { timeoutMs: this.#settings.timeoutMs, signal }, body);
  }

  /** Writes to one conversation run one after another: they would only be in each other's way. */
  #write<T>(
    name: string,
    place: { directory: string; names: string | undefined },
    signal: AbortSignal | undefined,
    body: (task: Task) => Promise<T>,
  ): Promise<T> {
    return this.#run(name, signal, (call) =>
      this.#queue.run(place.directory, async () => {
        call.signal.throwIfAborted();
        return body(this.#taskOf(call, place));
      }),
    );
  }
}
