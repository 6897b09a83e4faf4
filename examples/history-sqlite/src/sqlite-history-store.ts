import {
  AgentFrameworkError,
  type AppendOptions,
  assertCallOptions,
  assertCount,
  assertHistoryKey,
  assertHistoryRecords,
  assertListFilter,
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
import { assertIfVersion, assertRange } from "@agentfw/core/backend";
import type { InValue, Transaction } from "@libsql/client";
import { Database } from "./database.ts";
import { PROVIDER } from "./errors.ts";
import { fromCursor, fromListCursor, toKeyInfo, toListCursor, toNames } from "./names.ts";
import { resolveOptions, type Settings, type SqliteHistoryStoreOptions } from "./options.ts";
import { type PageRequest, pageStatement, toPage } from "./page.ts";
import {
  ALIVE,
  find,
  insertAtEnd,
  insertConversation,
  positionOf,
  rememberNew,
  remove,
  removeExpired,
  renew,
  replaceRun,
  type Stored,
} from "./statements.ts";

/**
 * Conversations in a file of SQLite. One instance serves all conversations and any number of callers at once; any number
 * of processes on one machine may share the file.
 *
 * The constructor checks the options and does nothing else: the file is opened by the first call.
 */
export class SqliteHistoryStore implements HistoryStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: HistoryCapabilities;
  readonly #settings: Settings;
  readonly #database: Database;

  /** @throws `configuration` naming the option and the rule. */
  constructor(options: SqliteHistoryStoreOptions) {
    this.#settings = resolveOptions(options);
    this.#database = new Database(this.#settings);
    this.capabilities = {
      dedupe: "all",
      processes: "many",
      conditionalAppend: true,
      replace: true,
      list: true,
      ttl: true,
      maxRecords: true,
      maxRecordBytes: this.#settings.maxRecordBytes,
    };
  }

  async append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ readonly version: string; readonly appended: number }> {
    assertHistoryKey(key);
    const copies = this.#copies(records);
    assertAppendOptions(options);
    const names = toNames(key);
    const { signal, ifVersion } = options;
    return this.#database.write("append", signal, async (transaction) => {
      const now = this.#settings.now();
      const found = await find(transaction, names, now);
      if (copies.length === 0) {
        return { version: found?.version ?? "", appended: 0 };
      }
      const number = found?.number ?? (await insertConversation(transaction, names, now));
      // Ids are judged before the version: a repetition is no conflict with itself.
      const added = await rememberNew(transaction, number, copies);
      if (added.length === 0 && found !== undefined) {
        return { version: found.version, appended: 0 };
      }
      assertVersion(found, ifVersion);
      await insertAtEnd(transaction, number, added);
      return { version: await this.#finish(transaction, number, now), appended: added.length };
    });
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    assertHistoryKey(key);
    assertReadOptions(options);
    const { last, before, withFirst = false, onCorrupt = "error", signal } = options;
    const request: PageRequest = {
      last,
      cursor: before === undefined ? undefined : fromCursor(before),
      withFirst,
      onCorrupt,
    };
    const statement = pageStatement(key, request, this.#settings.now());
    return toPage(await this.#database.read("read", statement, signal), request);
  }

  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    assertHistoryKey(key);
    assertCallOptions(options);
    const names = toNames(key);
    await this.#database.write("clear", options.signal, async (transaction) => {
      const found = await find(transaction, names, this.#settings.now());
      if (found !== undefined) {
        await remove(transaction, found.number);
      }
    });
  }

  async replace(
    key: HistoryKey,
    range: { readonly fromId: string; readonly throughId: string },
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ readonly version: string }> {
    assertHistoryKey(key);
    const { fromId, throughId } = assertRange(range);
    const copies = this.#copies(records);
    assertAppendOptions(options);
    const names = toNames(key);
    const { signal, ifVersion } = options;
    return this.#database.write("replace", signal, async (transaction) => {
      const now = this.#settings.now();
      const found = await find(transaction, names, now);
      assertVersion(found, ifVersion);
      const from = found && (await positionOf(transaction, found.number, fromId));
      const through = found && (await positionOf(transaction, found.number, throughId));
      if (found === undefined || from === undefined || through === undefined || from > through) {
        throw conflict("the run is no longer stored", found);
      }
      await replaceRun(transaction, found.number, { from, through }, copies);
      return { version: await this.#finish(transaction, found.number, now) };
    });
  }

  async list(filter: HistoryListFilter, options: HistoryListOptions = {}): Promise<HistoryList> {
    assertListFilter(filter);
    assertCallOptions(options);
    const { limit = 100, cursor, signal } = options;
    assertCount(limit, "limit", 1);
    const conditions = [ALIVE];
    const args: Record<string, InValue> = { now: this.#settings.now(), limit: limit + 1 };
    if ("owner" in filter) {
      conditions.push("owner = :owner");
      args["owner"] = JSON.stringify(filter.owner);
    }
    if (filter.source !== undefined) {
      conditions.push("source = :source");
      args["source"] = JSON.stringify(filter.source);
    }
    if (cursor !== undefined) {
      conditions.push("(owner, source, session) > (:after0, :after1, :after2)");
      for (const [index, part] of fromListCursor(cursor).entries()) {
        args[`after${index}`] = part;
      }
    }
    const sql = `SELECT owner, source, session, updated_at FROM agentfw_conversations
      WHERE ${conditions.join(" AND ")} ORDER BY owner, source, session LIMIT :limit`;
    const { rows } = await this.#database.read("list", { sql, args }, signal);
    const page = rows.slice(0, limit);
    const end = rows.length > limit ? page.at(-1) : undefined;
    return { items: page.map(toKeyInfo), ...(end === undefined ? {} : { cursor: toListCursor(end) }) };
  }

  /** Waits for the writes that were begun, then releases what the store opened itself. Later calls are refused. */
  async close(): Promise<void> {
    await this.#database.close();
  }

  /** The records as they are now: the caller may change its own while a write waits for its turn. */
  #copies(records: readonly HistoryRecord[]): readonly HistoryRecord[] {
    assertHistoryRecords(records, this.#settings.maxRecordBytes);
    return records.map(({ id, data }) => ({ id, data }));
  }

  async #finish(transaction: Transaction, number: number, now: number): Promise<string> {
    const { maxRecords, ttlSeconds } = this.#settings;
    const expiresAt = ttlSeconds === undefined ? null : Math.ceil(now + ttlSeconds * 1_000);
    const version = await renew(transaction, number, { now, expiresAt, maxRecords });
    await removeExpired(transaction, now);
    return version;
  }
}

function assertAppendOptions(options: AppendOptions): void {
  assertCallOptions(options);
  assertIfVersion(options.ifVersion);
}

function assertVersion(found: Stored | undefined, ifVersion: string | undefined): void {
  if (ifVersion !== undefined && ifVersion !== (found?.version ?? "")) {
    throw conflict("someone else has written to the conversation", found);
  }
}

function conflict(message: string, found: Stored | undefined): AgentFrameworkError {
  return new AgentFrameworkError("conflict", message, { provider: PROVIDER, currentVersion: found?.version ?? "" });
}
