import { type AgentFrameworkError, configurationError } from "../errors.ts";
import { KnownRecord } from "../message-record.ts";
import type { HistoryStore } from "../ports/history-store.ts";
import type {
  AppendOptions,
  CallOptions,
  HistoryCapabilities,
  HistoryKey,
  HistoryKeyInfo,
  HistoryList,
  HistoryListFilter,
  HistoryListOptions,
  HistoryPage,
  HistoryRecord,
  ReadOptions,
} from "../ports/history-types.ts";
import {
  assertCallOptions,
  assertCount,
  assertHistoryKey,
  assertHistoryRecords,
  assertListFilter,
  assertObject,
  assertReadOptions,
  historyKeyText,
} from "../store-input.ts";
import { conflict, idleMs, MAX_BYTES } from "./in-memory-parts.ts";

/** Options of {@link InMemoryHistoryStore}. */
export interface InMemoryHistoryStoreOptions {
  /**
   * Keep only the newest records of a conversation, trimmed in the same step as the append; 0 keeps none.
   *
   * @default unlimited
   */
  readonly maxRecords?: number | undefined;
  /** Idle life of a conversation, renewed by writes. @default forever */
  readonly ttlSeconds?: number | undefined;
  /** Milliseconds since the epoch, for expiry and `updatedAt`; never for order. @default Date.now */
  readonly now?: (() => number) | undefined;
}

interface Conversation {
  readonly key: HistoryKey;
  records: HistoryRecord[];
  /** Ids stored or replaced in this life of the conversation. */
  readonly ids: Set<string>;
  version: string;
  updatedAt: number;
  expiresAt: number;
}

/**
 * The reference implementation of {@link HistoryStore}: one process, nothing survives it. Records are immutable
 * copies, so neither side can change what the other holds.
 */
export class InMemoryHistoryStore implements HistoryStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: HistoryCapabilities = {
    dedupe: "all",
    processes: "one",
    conditionalAppend: true,
    replace: true,
    list: true,
    ttl: true,
    maxRecords: true,
    maxRecordBytes: MAX_BYTES,
  };

  readonly #conversations = new Map<string, Conversation>();
  readonly #maxRecords: number;
  readonly #ttlMs: number;
  readonly #now: () => number;
  /** Counts over all conversations and lives, so that a version never comes back. */
  #writes = 0;

  constructor(options: InMemoryHistoryStoreOptions = {}) {
    assertObject(options, "options");
    const { maxRecords, ttlSeconds } = options;
    if (maxRecords !== undefined) {
      assertCount(maxRecords, "maxRecords", 0);
    }
    this.#maxRecords = maxRecords ?? Number.POSITIVE_INFINITY;
    this.#ttlMs = idleMs(ttlSeconds);
    this.#now = options.now ?? Date.now;
  }

  async append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    assertCallOptions(options);
    assertHistoryKey(key);
    assertHistoryRecords(records, this.capabilities.maxRecordBytes);
    const existing = this.#find(key);
    const fresh = records.filter((record) => !existing?.ids.has(record.id));
    if (fresh.length === 0) {
      return { version: existing?.version ?? "", appended: 0 };
    }
    this.#assertVersion(existing, options.ifVersion);
    const conversation = existing ?? this.#create(key);
    for (const record of fresh) {
      conversation.records.push(kept(record));
      conversation.ids.add(record.id);
    }
    this.#touch(conversation);
    return { version: conversation.version, appended: fresh.length };
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    assertReadOptions(options);
    assertHistoryKey(key);
    const conversation = this.#find(key);
    if (conversation === undefined) {
      return { records: [], version: "" };
    }
    const { records, version } = conversation;
    const end = options.before === undefined ? records.length : indexOfId(records, options.before, "before");
    const start = options.last === undefined ? 0 : Math.max(0, end - options.last);
    const page = records.slice(start, end);
    return {
      records: page,
      version,
      older: start > 0 ? page[0]?.id : undefined,
      first: options.withFirst ? records[0] : undefined,
    };
  }

  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    assertCallOptions(options);
    assertHistoryKey(key);
    this.#conversations.delete(historyKeyText(key));
  }

  async replace(
    key: HistoryKey,
    range: { readonly fromId: string; readonly throughId: string },
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string }> {
    assertCallOptions(options);
    assertHistoryKey(key);
    assertHistoryRecords(records, this.capabilities.maxRecordBytes);
    assertObject(range, "range");
    const conversation = this.#find(key);
    this.#assertVersion(conversation, options.ifVersion);
    if (conversation === undefined) {
      throw notStored("range");
    }
    const stored = conversation.records;
    const from = indexOfId(stored, range.fromId, "range.fromId");
    const count = indexOfId(stored.slice(from), range.throughId, "range.throughId") + 1;
    const removed = new Set(stored.slice(from, from + count).map((record) => record.id));
    for (const [index, { id }] of records.entries()) {
      if (conversation.ids.has(id) && !removed.has(id)) {
        throw configurationError(`records[${index}].id`, "is stored outside of the range");
      }
      conversation.ids.add(id);
    }
    conversation.records = stored.toSpliced(from, count, ...records.map(kept));
    this.#touch(conversation);
    return { version: conversation.version };
  }

  async list(filter: HistoryListFilter, options: HistoryListOptions = {}): Promise<HistoryList> {
    assertCallOptions(options);
    assertListFilter(filter);
    // The text of the last key of a page; all of them begin like this.
    const { limit = 100, cursor = "[" } = options;
    assertCount(limit, "limit", 1);
    if (cursor[0] !== "[") {
      throw configurationError("cursor", "must come from a page");
    }
    const items: HistoryKeyInfo[] = [];
    for (const text of [...this.#conversations.keys()].sort()) {
      const conversation = this.#live(text);
      if (conversation === undefined || text <= cursor || !matches(conversation.key, filter)) {
        continue;
      }
      const last = items.at(-1);
      if (items.length === limit && last !== undefined) {
        return { items, cursor: historyKeyText(last.key) };
      }
      items.push({ key: conversation.key, updatedAt: new Date(conversation.updatedAt).toISOString() });
    }
    return { items };
  }

  #find(key: HistoryKey): Conversation | undefined {
    return this.#live(historyKeyText(key));
  }

  #live(text: string): Conversation | undefined {
    const conversation = this.#conversations.get(text);
    if (conversation !== undefined && conversation.expiresAt <= this.#now()) {
      this.#conversations.delete(text);
      return undefined;
    }
    return conversation;
  }

  #create(key: HistoryKey): Conversation {
    const { owner, source, session } = key;
    const conversation: Conversation = {
      key: Object.freeze({ owner, source, session }),
      records: [],
      ids: new Set(),
      version: "",
      updatedAt: 0,
      expiresAt: 0,
    };
    this.#conversations.set(historyKeyText(key), conversation);
    return conversation;
  }

  /** What every write ends with, in the same step: the limit, a new version, a new life. */
  #touch(conversation: Conversation): void {
    const { records } = conversation;
    records.splice(0, Math.max(0, records.length - this.#maxRecords));
    this.#writes += 1;
    conversation.version = String(this.#writes);
    conversation.updatedAt = this.#now();
    conversation.expiresAt = conversation.updatedAt + this.#ttlMs;
  }

  #assertVersion(conversation: Conversation | undefined, ifVersion: string | undefined): void {
    const currentVersion = conversation?.version ?? "";
    if (ifVersion !== undefined && ifVersion !== currentVersion) {
      throw conflict("another writer came first", currentVersion);
    }
  }
}

/** A copy that cannot change; one that cannot change anyway is kept as it is. */
function kept(record: HistoryRecord): HistoryRecord {
  return KnownRecord.is(record) ? record : new KnownRecord(record.id, record.data);
}

function indexOfId(records: readonly HistoryRecord[], id: string, field: string): number {
  const index = records.findLastIndex((record) => record.id === id);
  if (index < 0) {
    throw notStored(field);
  }
  return index;
}

function notStored(field: string): AgentFrameworkError {
  return conflict(`${field}: the record is no longer stored`);
}

function matches(key: HistoryKey, filter: HistoryListFilter): boolean {
  return (
    ("allOwners" in filter || key.owner === filter.owner) &&
    (filter.source === undefined || key.source === filter.source)
  );
}
