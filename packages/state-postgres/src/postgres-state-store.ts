import { randomBytes } from "node:crypto";
import {
  AgentFrameworkError,
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
import type { Answer } from "./calls.ts";
import { Database, type Question } from "./database.ts";
import { conflictError, corruptError, PROVIDER, unexpectedAnswer } from "./errors.ts";
import { ownerKey } from "./keys.ts";
import { assertListOptions, pageOf } from "./listing.ts";
import {
  type PostgresConnectionOptions,
  type PostgresStateStoreOptions,
  resolveConnection,
  resolveOptions,
  type Settings,
} from "./options.ts";
import {
  assertBatchSize,
  checkedOwner,
  type DeleteExpiredOptions,
  type EraseFilter,
  type RemovedItems,
  removeInBatches,
} from "./removing.ts";
import {
  assertText,
  checkedKey,
  encodeTags,
  isObjectText,
  itemNames,
  matchOf,
  ownerOf,
  tagsOf,
} from "./state-input.ts";

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
  readonly #database: Database;

  /**
   * Checks the options; connects at the first call.
   *
   * @throws `configuration` naming the option and the rule.
   */
  constructor(connection: PostgresConnectionOptions, options: PostgresStateStoreOptions = {}) {
    const resolved = resolveConnection(connection);
    this.#settings = resolveOptions(options);
    this.capabilities = { maxValueBytes: this.#settings.maxValueBytes, ttl: true, isolation: true };
    this.#database = new Database(resolved, this.#settings);
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
    const k = checkedKey(ownerOf(options.owner), key);
    const template = this.#database.statements.get;
    const { rows } = await this.#read({ name: "get", template, values: [k], signal: options.signal });
    const [row] = rows;
    if (row === undefined) {
      return undefined;
    }
    const [etag, tagText, value] = row;
    const tags = tagsOf(tagText);
    const text = String(value);
    if (tags === undefined || !isObjectText(text)) {
      throw corruptError("get", tags === undefined ? "tags" : "value");
    }
    return { key, text, etag: String(etag), tags };
  }

  async delete(key: string, options: Scope & { readonly ifMatch?: string | undefined } = {}): Promise<boolean> {
    assertCallOptions(options);
    const match = matchOf(options.ifMatch);
    const values = [checkedKey(ownerOf(options.owner), key), match];
    const template = this.#database.statements.remove;
    const mayRepeat = isExact(match);
    const answer = await this.#write({ name: "delete", mayRepeat, template, values, signal: options.signal });
    const [outcome, etag] = wordsOf(answer);
    if (outcome === "deleted") {
      return true;
    }
    assertCertain("delete", answer);
    if (outcome !== "absent" && outcome !== "conflict") {
      throw unexpectedAnswer("delete");
    }
    if (match !== null) {
      throw conflictError("delete: the etag does not match", etag);
    }
    return false;
  }

  async listKeys(options: StateListOptions = {}): Promise<{ keys: StateKey[]; cursor?: string }> {
    assertCallOptions(options);
    const { tags, limit = 100, order = "asc", cursor, signal } = options;
    assertListOptions({ limit, order, cursor });
    const owner = ownerOf(options.owner);
    // One more than is asked for, to see whether there is one.
    const values = [ownerKey(owner), encodeTags(owner, tags).keys, order === "desc", cursor ?? null, limit + 1];
    const template = this.#database.statements.list;
    const { rows } = await this.#read({ name: "listKeys", template, values, signal });
    return pageOf(rows, limit);
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
    const values = [ownerKey(checkedOwner(filter)), ERASE_BATCH];
    return this.#removeAll("erase", values, ERASE_BATCH, options.signal);
  }

  /**
   * Deletes the items that have expired, and gives how many. Works in batches, each within `timeoutMs` and complete in
   * itself. May run in any number of processes at once: a batch passes over what another one has.
   *
   * @throws as every write; what was deleted until then stays deleted, and the call can be repeated.
   */
  async deleteExpired(options: DeleteExpiredOptions = {}): Promise<RemovedItems> {
    assertCallOptions(options);
    const { batchSize = 100, signal } = options;
    assertBatchSize(batchSize);
    return this.#removeAll("deleteExpired", [batchSize], batchSize, signal);
  }

  /**
   * Resolves when the tables and functions are there, have the right shape, and the user may use them.
   *
   * @throws `configuration` or `unauthorized` with what is missing or different; `unsupported` for a later layout.
   */
  async verifySchema(options: CallOptions = {}): Promise<void> {
    assertCallOptions(options);
    await this.#database.layout.verify(options.signal);
  }

  /** Ends the connections that the store made; a later call makes new ones. What was passed in stays open. */
  close(): Promise<void> {
    return this.#database.close();
  }

  async #put({ operation, key, text, options }: Put): Promise<{ etag: string }> {
    const owner = ownerOf(options.owner);
    const k = checkedKey(owner, key);
    const match = matchOf(options.ifMatch);
    const tags = encodeTags(owner, options.tags);
    assertText(text, this.#settings.maxValueBytes);
    // Made here and not by the server, so that one call sent twice has one etag. 96 bits never meet again.
    const etag = randomBytes(12).toString("base64url");
    const item = [k, ...itemNames(owner, key), text, etag, tags.text, tags.keys];
    const values = [...item, operation === "create", match, this.#settings.ttlSeconds ?? null];
    const template = this.#database.statements.put;
    const mayRepeat = isExact(match);
    const answer = await this.#write({ name: operation, mayRepeat, template, values, signal: options.signal });
    const [outcome, current] = wordsOf(answer);
    if (outcome === "stored") {
      return { etag };
    }
    assertCertain(operation, answer);
    if (outcome !== "conflict") {
      throw unexpectedAnswer(operation);
    }
    const message = operation === "create" ? "an item with this key exists" : "the etag does not match";
    throw conflictError(`${operation}: ${message}`, current);
  }

  #removeAll(
    name: "erase" | "deleteExpired",
    values: unknown[],
    batchSize: number,
    signal: AbortSignal | undefined,
  ): Promise<RemovedItems> {
    const { erase, expire } = this.#database.statements;
    const template = name === "erase" ? erase : expire;
    return removeInBatches(batchSize, async () => {
      const answer = await this.#write({ name, mayRepeat: true, template, values, signal });
      const items = Number(wordsOf(answer)[0]);
      if (!Number.isSafeInteger(items)) {
        throw unexpectedAnswer(name);
      }
      return { items };
    });
  }

  #read(question: Omit<Question, "kind" | "mayRepeat">): Promise<Answer> {
    return this.#database.run({ ...question, kind: "read", mayRepeat: true });
  }

  #write(question: Omit<Question, "kind">): Promise<Answer> {
    return this.#database.run({ ...question, kind: "write" });
  }
}

/** Without an etag to match, a write that is sent again could undo what somebody did in between. */
function isExact(match: string | null): boolean {
  return match !== null && match !== "*";
}

/** A refusal says nothing when the call may have been carried out before: by then it may have been its own doing. */
function assertCertain(operation: string, { isRepetition }: Answer): void {
  if (isRepetition) {
    throw new AgentFrameworkError("outcome_unknown", `${operation}: the connection ended before the answer came`, {
      provider: PROVIDER,
    });
  }
}

/** The words of a function's answer; one that is empty is not there. */
function wordsOf({ rows }: Answer): (string | undefined)[] {
  return String(rows[0]?.[0] ?? "")
    .split(" ")
    .map((word) => (word === "" ? undefined : word));
}
