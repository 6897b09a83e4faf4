import { randomInt } from "node:crypto";
import {
  type AppendOptions,
  assertCallOptions,
  assertCount,
  assertHistoryKey,
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
import { assertWithin, escapeText, OnDemand, ownerToErase } from "@agentfw/core/backend";
import type { Answer, Call } from "./connection.ts";
import { type PostgresConnectionOptions, resolveConnection } from "./connection-options.ts";
import { assertListCursor, parseCursor } from "./cursors.ts";
import type { Engine } from "./engine.ts";
import { conversationKey, ownerKey } from "./keys.ts";
import { type PostgresHistoryStoreOptions, resolveOptions, type Settings } from "./options.ts";
import { PROVIDER } from "./provider.ts";
import {
  type DeleteExpiredOptions,
  type EraseFilter,
  MAX_BATCH_SIZE,
  type RemovedConversations,
  removeInBatches,
} from "./removing.ts";
import { schemaOf } from "./schema.ts";
import { listStatement, type Statements, statementsOn } from "./statements.ts";
import type { StoreSchema } from "./store-schema.ts";
import { checkedRange, conditionOf, encodeRecords } from "./write-input.ts";

/**
 * Each append has a random number below 2^40. It is the first position of a conversation that begins, so that no later life
 * repeats a version, and stamps the records, so that a repetition knows what its first try stored.
 */
const HIGHEST_BASE = 2 ** 40;

const ERASE_BATCH = 100;

/**
 * Conversations in PostgreSQL, written by any number of processes; embedded on PGlite, by one.
 *
 * *Layout*: a row for each conversation and one for each record, in two tables that the conversation's key leads. Layout
 * version 1, in `schema`. A record's position comes from its conversation's row.
 *
 * *Atomicity*: each call is one statement, so one transaction. Writes are functions in the database that lock the
 * conversation's row first and then judge ids, version and range.
 *
 * *Isolation*: 128 bits of a hash over owner, source and session are the key; nothing is ever looked for by pattern.
 *
 * *Failure*: an answer that was lost is asked for again until the deadline, except where a repetition could undo what
 * others did meanwhile: a `clear`, and a `replace` by the same ids without `ifVersion`, are `outcome_unknown`. Tables of
 * another shape are refused, and stay as they are.
 *
 * *Limits*: 100,000 records and 256 MiB in one call, their ids counted; ids of 1,024 bytes. PostgreSQL 13 or later.
 *
 * *Security*: nothing is encrypted, and owners stand in clear in the conversations' rows.
 */
export class PostgresHistoryStore implements HistoryStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: HistoryCapabilities;

  readonly #settings: Settings;
  readonly #schema: StoreSchema;
  readonly #statements: Statements;
  readonly #engine: OnDemand<Engine>;

  /**
   * Checks the options, and begins to load what calls need; connects at the first call.
   *
   * @throws `configuration` naming the option and the rule.
   */
  constructor(connection: PostgresConnectionOptions, options: PostgresHistoryStoreOptions = {}) {
    const resolved = resolveConnection(connection);
    this.#settings = resolveOptions(options);
    this.capabilities = {
      dedupe: "all",
      processes: "client" in resolved ? "one" : "many",
      conditionalAppend: true,
      replace: true,
      list: true,
      ttl: true,
      maxRecords: false,
      maxRecordBytes: this.#settings.maxRecordBytes,
    };
    this.#schema = schemaOf(this.#settings.schema, this.#settings.partitions);
    this.#statements = statementsOn(this.#schema.names, this.#settings.prepare);
    this.#engine = new OnDemand(PROVIDER, async () => {
      const { openEngine } = await import("./engine.ts");
      return openEngine(resolved, this.#settings, this.#schema);
    });
  }

  async append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    assertCallOptions(options);
    const k = keyOf(key);
    const { ids, idLines, dataLines } = encodeRecords(records, this.#settings.maxRecordBytes);
    const condition = conditionOf(options.ifVersion);
    if (ids.length === 0) {
      const { version } = await this.read(key, { last: 1, onCorrupt: "skip", signal: options.signal });
      return { version, appended: 0 };
    }
    const { ttlSeconds = null } = this.#settings;
    const owner = key.owner === null ? null : escapeText(key.owner);
    const source = escapeText(key.source);
    const session = escapeText(key.session);
    const base = randomInt(1, HIGHEST_BASE);
    const values = [k, ownerKey(key.owner), owner, source, session, idLines, dataLines, condition, ttlSeconds, base];
    const call = { name: "append", kind: "write", mayRepeat: true, request: this.#statements.append(values) } as const;
    return await this.#call(call, options, (engine, answer) => engine.appendedOf(answer));
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    assertReadOptions(options);
    const k = keyOf(key);
    const { last, before, withFirst = false, onCorrupt } = options;
    // One more than is asked for, to see whether there is one.
    const limit = last === undefined ? null : last + 1;
    const values = [k, limit, before === undefined ? null : parseCursor(before), withFirst];
    // The page is made by what was asked for, whatever the caller does with the options meanwhile.
    const page = { last, before, withFirst, onCorrupt };
    const call = { name: "read", kind: "read", mayRepeat: true, request: this.#statements.read(values) } as const;
    return await this.#call(call, options, (engine, { reply }) => engine.pageOf(reply, page));
  }

  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    assertCallOptions(options);
    const request = this.#statements.clear([keyOf(key)]);
    await this.#call({ name: "clear", kind: "write", mayRepeat: false, request }, options, () => {});
  }

  async replace(
    key: HistoryKey,
    range: { readonly fromId: string; readonly throughId: string },
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string }> {
    assertCallOptions(options);
    const k = keyOf(key);
    const { fromId, throughId } = checkedRange(range);
    const { ids, idLines, dataLines } = encodeRecords(records, this.#settings.maxRecordBytes);
    const condition = conditionOf(options.ifVersion);
    const values = [k, fromId, throughId, idLines, dataLines, condition, this.#settings.ttlSeconds ?? null];
    // What was carried out has another version, or an end less, and so a repetition finds nothing to replace.
    const mayRepeat = condition !== null || !(ids.includes(fromId) && ids.includes(throughId));
    const call = { name: "replace", kind: "write", mayRepeat, request: this.#statements.replace(values) } as const;
    return await this.#call(call, options, (engine, answer) => engine.replacedOf(answer));
  }

  async list(filter: HistoryListFilter, options: HistoryListOptions = {}): Promise<HistoryList> {
    assertCallOptions(options);
    assertListFilter(filter);
    const { limit = 100, cursor } = options;
    assertCount(limit, "limit", 1);
    if (cursor !== undefined) {
      assertListCursor(cursor);
    }
    const task = {
      ownerKey: "allOwners" in filter ? undefined : ownerKey(filter.owner),
      source: filter.source === undefined ? undefined : escapeText(filter.source),
      limit,
      cursor,
    };
    const request = listStatement(this.#schema.names, task);
    const call = { name: "list", kind: "read", mayRepeat: true, request } as const;
    return await this.#call(call, options, (engine, { reply }) => engine.listOf(reply, limit));
  }

  /**
   * Deletes every conversation of one owner, `null` for the unowned ones, and gives what was deleted. Works in batches of
   * 100 conversations, or fewer where they have more than 100,000 records, each within `timeoutMs` and complete in itself;
   * a conversation that begins meanwhile may stay. What a batch deleted whose answer was lost is not in the numbers.
   *
   * @throws as every write; what was deleted until then stays deleted, and the call can be repeated.
   */
  async erase(filter: EraseFilter, options: CallOptions = {}): Promise<RemovedConversations> {
    assertCallOptions(options);
    const values = [ownerKey(ownerToErase(filter)), ERASE_BATCH];
    return this.#remove("erase", values, ERASE_BATCH, options);
  }

  /**
   * Deletes the conversations that have expired, and gives what was deleted. Works in batches, each within `timeoutMs`
   * and complete in itself. May run in any number of processes at once: a batch passes over what another one has.
   *
   * @throws as every write; what was deleted until then stays deleted, and the call can be repeated.
   */
  async deleteExpired(options: DeleteExpiredOptions = {}): Promise<RemovedConversations> {
    assertCallOptions(options);
    const { batchSize = 100 } = options;
    assertWithin(batchSize, "batchSize", 1, MAX_BATCH_SIZE);
    return this.#remove("deleteExpired", [batchSize], batchSize, options);
  }

  /**
   * Resolves when the tables and functions are there, have the right shape, and the user may use them.
   *
   * @throws `configuration` or `unauthorized` with what is missing or different; `unsupported` for a later layout.
   */
  async verifySchema(options: CallOptions = {}): Promise<void> {
    assertCallOptions(options);
    const limits = { timeoutMs: this.#settings.timeoutMs, signal: options.signal };
    await this.#engine.runWithin("verifySchema", limits, (engine) => engine.layout.verify(limits.signal));
  }

  /** Ends the connections that the store made. What was passed in stays open. */
  async close(): Promise<void> {
    // Without an engine nothing was opened.
    await (await this.#engine.close(this.#settings.timeoutMs))?.close();
  }

  #remove(
    name: "erase" | "deleteExpired",
    values: unknown[],
    batchSize: number,
    options: CallOptions,
  ): Promise<RemovedConversations> {
    const call = { name, kind: "write", mayRepeat: true, request: this.#statements[name](values) } as const;
    return removeInBatches(batchSize, () =>
      this.#call(call, options, (engine, answer) => engine.removedOf(name, answer)),
    );
  }

  #call<Result>(
    call: Call,
    { signal }: CallOptions,
    receive: (engine: Engine, answer: Answer) => Result,
  ): Promise<Result> {
    const limits = { timeoutMs: this.#settings.timeoutMs, signal };
    return this.#engine.runWithin(call.name, limits, async (engine, left) =>
      receive(engine, await engine.layout.run(call, left)),
    );
  }
}
function keyOf(key: HistoryKey): string {
  assertHistoryKey(key);
  return conversationKey(key);
}
