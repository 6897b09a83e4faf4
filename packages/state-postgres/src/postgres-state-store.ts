import { randomBytes } from "node:crypto";
import {
  assertCallOptions,
  type CallOptions,
  type Scope,
  type StateCapabilities,
  type StateItem,
  type StateKey,
  type StateListOptions,
  type StateStore,
  type Tags,
} from "@agentfw/core";
import { assertStateText, assertWithin, OnDemand, ownerToErase } from "@agentfw/core/backend";
import type { Answer, Call } from "./connection.ts";
import { type PostgresConnectionOptions, resolveConnection } from "./connection-options.ts";
import type { Engine } from "./engine.ts";
import { ownerKey } from "./keys.ts";
import { type PostgresStateStoreOptions, resolveOptions, type Settings } from "./options.ts";
import { PROVIDER } from "./provider.ts";
import {
  type DeleteExpiredOptions,
  type EraseFilter,
  MAX_BATCH_SIZE,
  type RemovedItems,
  removeInBatches,
} from "./removing.ts";
import { schemaOf } from "./schema.ts";
import { assertListOptions, checkedKey, encodeTags, itemNames, matchOf, ownerOf } from "./state-input.ts";
import { type Statements, statementsOn } from "./statements.ts";

const ERASE_BATCH = 100;

/** What `create` and `set` have in common. */
interface Put {
  readonly operation: "create" | "set";
  readonly key: string;
  readonly text: string;
  readonly options: Scope & { readonly tags?: Tags | undefined; readonly ifMatch?: string | undefined };
}

/**
 * Key-value state in PostgreSQL, shared by any number of processes; embedded on PGlite, for one.
 *
 * *Layout*: a row for each item, and one for each of its tags. Layout version 1, in `schema`.
 *
 * *Atomicity*: each call is one statement, so one transaction. Writes are functions in the database that lock the item's
 * row first and then judge its etag.
 *
 * *Isolation*: 128 bits of a hash over owner and key are the key, and owners are in every tag's hash.
 *
 * *Failure*: reads, and writes under an etag, are sent again when their connection ended. Any other write whose answer
 * was lost is `outcome_unknown`. Tables of another shape are refused, and stay as they are.
 *
 * *Limits*: keys and owners of 8,192 bytes, 64 tags. PostgreSQL 13 or later.
 *
 * *Security*: nothing is encrypted, and owners, keys and tags stand in clear in the items' rows.
 */
export class PostgresStateStore implements StateStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: StateCapabilities;

  readonly #settings: Settings;
  readonly #statements: Statements;
  readonly #engine: OnDemand<Engine>;

  /**
   * Checks the options, and begins to load what calls need; connects at the first call.
   *
   * @throws `configuration` naming the option and the rule.
   */
  constructor(connection: PostgresConnectionOptions, options: PostgresStateStoreOptions = {}) {
    const resolved = resolveConnection(connection);
    this.#settings = resolveOptions(options);
    this.capabilities = { maxValueBytes: this.#settings.maxValueBytes, ttl: true, isolation: true };
    const schema = schemaOf(this.#settings.schema);
    this.#statements = statementsOn(schema.names, this.#settings.prepare);
    this.#engine = new OnDemand(PROVIDER, async () => {
      const { openEngine } = await import("./engine.ts");
      return openEngine(resolved, this.#settings, schema);
    });
  }

  async create(
    key: string,
    text: string,
    options: Scope & { readonly tags?: Tags | undefined } = {},
  ): Promise<{ etag: string }> {
    assertCallOptions(options);
    const { owner, tags, signal } = options;
    return this.#put({ operation: "create", key, text, options: { owner, tags, signal } });
  }

  async set(
    key: string,
    text: string,
    options: Scope & { readonly tags?: Tags | undefined; readonly ifMatch?: string | undefined } = {},
  ): Promise<{ etag: string }> {
    assertCallOptions(options);
    return this.#put({ operation: "set", key, text, options });
  }

  async get(key: string, options: Scope = {}): Promise<StateItem | undefined> {
    assertCallOptions(options);
    const request = this.#statements.get([checkedKey(ownerOf(options.owner), key)]);
    const call = { name: "get", kind: "read", mayRepeat: true, request } as const;
    return await this.#call(call, options, (engine, { reply }) => engine.itemOf(key, reply));
  }

  async delete(key: string, options: Scope & { readonly ifMatch?: string | undefined } = {}): Promise<boolean> {
    assertCallOptions(options);
    const match = matchOf(options.ifMatch);
    const request = this.#statements.delete([checkedKey(ownerOf(options.owner), key), match]);
    const call = { name: "delete", kind: "write", mayRepeat: isExact(match), request } as const;
    return await this.#call(call, options, (engine, answer) => engine.deletedOf(match !== null, answer));
  }

  async listKeys(options: StateListOptions = {}): Promise<{ keys: StateKey[]; cursor?: string }> {
    assertCallOptions(options);
    const { tags, limit = 100, order = "asc", cursor } = options;
    assertListOptions({ limit, order, cursor });
    const owner = ownerOf(options.owner);
    // One more than is asked for, to see whether there is one.
    const values = [ownerKey(owner), encodeTags(owner, tags).keys, order === "desc", cursor ?? null, limit + 1];
    const call = {
      name: "listKeys",
      kind: "read",
      mayRepeat: true,
      request: this.#statements.listKeys(values),
    } as const;
    return await this.#call(call, options, (engine, { reply }) => engine.pageOf(reply, limit));
  }

  /**
   * Deletes every item of one owner, `null` for the unowned ones, and gives how many. Works in batches of 100 items, each
   * within `timeoutMs` and complete in itself; an item that is made meanwhile may stay. What a batch deleted whose answer
   * was lost is not in the number.
   *
   * @throws as every write; what was deleted until then stays deleted, and the call can be repeated.
   */
  async erase(filter: EraseFilter, options: CallOptions = {}): Promise<RemovedItems> {
    assertCallOptions(options);
    const values = [ownerKey(ownerToErase(filter)), ERASE_BATCH];
    return this.#remove("erase", values, ERASE_BATCH, options);
  }

  /**
   * Deletes the items that have expired, and gives how many. Works in batches, each within `timeoutMs` and complete in
   * itself. May run in any number of processes at once: a batch passes over what another one has.
   *
   * @throws as every write; what was deleted until then stays deleted, and the call can be repeated.
   */
  async deleteExpired(options: DeleteExpiredOptions = {}): Promise<RemovedItems> {
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

  async #put({ operation, key, text, options }: Put): Promise<{ etag: string }> {
    const owner = ownerOf(options.owner);
    const k = checkedKey(owner, key);
    const match = matchOf(options.ifMatch);
    const tags = encodeTags(owner, options.tags);
    assertStateText(text, this.#settings.maxValueBytes);
    // Made here and not by the server, so that one call sent twice has one etag. 96 bits never meet again.
    const etag = randomBytes(12).toString("base64url");
    const item = [k, ...itemNames(owner, key), text, etag, tags.text, tags.keys];
    const values = [...item, operation === "create", match, this.#settings.ttlSeconds ?? null];
    const request = this.#statements.put(values);
    const call = { name: operation, kind: "write", mayRepeat: isExact(match), request } as const;
    await this.#call(call, options, (engine, answer) => engine.assertStored(operation, answer));
    return { etag };
  }

  #remove(
    name: "erase" | "deleteExpired",
    values: unknown[],
    batchSize: number,
    options: CallOptions,
  ): Promise<RemovedItems> {
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

/** Without an etag to match, a write that is sent again could undo what somebody did in between. */
function isExact(match: string | null): boolean {
  return match !== null && match !== "*";
}
