import { randomBytes } from "node:crypto";
import {
  AgentFrameworkError,
  assertCallOptions,
  assertCount,
  configurationError,
  type Scope,
  type StateCapabilities,
  type StateItem,
  type StateKey,
  type StateListOptions,
  type StateStore,
  type Tags,
} from "@agentfw/core";
import { borrow } from "./borrowed-connection.ts";
import { type Answer, Calls } from "./calls.ts";
import { type Connection, OwnConnection } from "./connection.ts";
import { conflictError, corruptError, PROVIDER } from "./errors.ts";
import { type ItemKeys, itemKeys, nameOf, storedName } from "./names.ts";
import {
  type RedisSettings,
  type RedisStateStoreConnection,
  type RedisStateStoreOptions,
  resolveConnection,
  resolveOptions,
} from "./options.ts";
import { DELETE, GET, LIST, PUT } from "./scripts.ts";
import { assertText, isObjectText, storedTags, tagsOf } from "./state-input.ts";

/** What `create` and `set` have in common. */
interface Put {
  readonly operation: "create" | "set";
  readonly key: string;
  readonly text: string;
  readonly options: Scope & { readonly tags?: Tags | undefined; readonly ifMatch?: string | undefined };
}

/**
 * Key-value state in Redis, on one node or a cluster, shared by any number of processes.
 *
 * *Layout*: a STRING for each value; for each owner a HASH of entries with etag, times and tags, and ZSETs by the order
 * of creation, by tag and by expiry. Version 1; the README has the keys.
 *
 * *Atomicity*: each call is one Lua script in one round trip; a long listing is several.
 *
 * *Isolation*: the owner is in every key and is the hash tag, so all that one owner has is in one slot.
 *
 * *Failure*: a key of another type, an unreadable entry and a value that the server evicted are `corrupt`, and stay as
 * they are. A write whose answer was lost is `outcome_unknown`.
 *
 * *Limits*: one owner lives on one node. An entry costs some 250 to 400 bytes beside its value, and some 150 for each
 * tag. Names up to 8,192 bytes, 64 tags.
 *
 * *Security*: nothing is encrypted; whoever may read the server's keys may read the state.
 */
export class RedisStateStore implements StateStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: StateCapabilities;

  readonly #settings: RedisSettings;
  readonly #connection: Connection;
  readonly #calls: Calls;

  /**
   * Checks the arguments. Connects at the first call.
   *
   * @throws `configuration` naming the option and the rule.
   */
  constructor(connection: RedisStateStoreConnection, options: RedisStateStoreOptions = {}) {
    const server = resolveConnection(connection);
    this.#settings = resolveOptions(options);
    const { maxValueBytes, timeoutMs } = this.#settings;
    this.capabilities = { maxValueBytes, ttl: true, isolation: true };
    this.#connection = "call" in server ? borrow(server) : new OwnConnection(server, timeoutMs);
    this.#calls = new Calls(this.#connection);
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
    assertIfMatch(options.ifMatch);
    return this.#put({ operation: "set", key, text, options });
  }

  async get(key: string, options: Scope = {}): Promise<StateItem | undefined> {
    const name = storedName(key);
    assertCallOptions(options);
    const { value, entries } = this.#keys(options, name);
    const { parts } = await this.#calls.run({
      name: "get",
      kind: "read",
      mayRepeat: true,
      script: GET,
      keys: [value, entries],
      args: [name],
      signal: options.signal,
      timeoutMs: this.#settings.timeoutMs,
    });
    const [status, etag, tagLines, text] = parts;
    if (status !== "item" || etag === undefined || text === undefined) {
      return undefined;
    }
    const tags = tagsOf(tagLines ?? "");
    if (tags === undefined || !isObjectText(text)) {
      throw corruptError("get", tags === undefined ? "entry" : "value");
    }
    return { key, text, etag, tags };
  }

  async delete(key: string, options: Scope & { readonly ifMatch?: string | undefined } = {}): Promise<boolean> {
    assertCallOptions(options);
    const { ifMatch, signal } = options;
    assertIfMatch(ifMatch);
    const name = storedName(key);
    const answer = await this.#calls.run({
      name: "delete",
      kind: "write",
      // Sent again, it could delete what somebody created in between.
      mayRepeat: false,
      script: DELETE,
      keys: writtenKeys(this.#keys(options, name)),
      args: [name, ifMatch === undefined ? "any" : "match", ifMatch ?? ""],
      signal,
      timeoutMs: this.#settings.timeoutMs,
    });
    const [status, etag] = answer.parts;
    if (status === "deleted") {
      return true;
    }
    assertCertain("delete", answer);
    if (ifMatch !== undefined) {
      throw conflictError("delete: the etag does not match", etag);
    }
    return false;
  }

  async listKeys(options: StateListOptions = {}): Promise<{ keys: StateKey[]; cursor?: string }> {
    assertCallOptions(options);
    const { tags, limit = 100, order = "asc", cursor, signal } = options;
    assertListOptions({ limit, order, cursor });
    const wanted = storedTags(tags);
    const keys = this.#keys(options, "");
    const endsAt = performance.now() + this.#settings.timeoutMs;
    const found: StateKey[] = [];
    let last = cursor ?? "";
    do {
      const { parts } = await this.#calls.run({
        name: "listKeys",
        kind: "read",
        mayRepeat: true,
        script: LIST,
        keys: [keys.entries, keys.order, keys.tags],
        args: [limit - found.length, order, last, ...wanted],
        signal,
        timeoutMs: Math.max(1, endsAt - performance.now()),
      });
      last = parts[1] ?? "";
      found.push(...toStateKeys(parts.slice(2)));
    } while (last !== "" && found.length < limit);
    return { keys: found, ...(last === "" ? {} : { cursor: last }) };
  }

  /** Ends the connection that the store made itself, after the calls under way; a client that was passed in stays. */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #put({ operation, key, text, options }: Put): Promise<{ etag: string }> {
    const { tags, ifMatch, signal } = options;
    const name = storedName(key);
    const keys = writtenKeys(this.#keys(options, name));
    const tagLines = storedTags(tags).map((tag) => `${tag}\n`);
    assertText(text, this.#settings.maxValueBytes);
    // Made here and not by the server, so that one call sent twice by the driver has one etag. 96 bits never meet again.
    const etag = randomBytes(12).toString("base64url");
    const mode = ifMatch === undefined ? operation : "match";
    const answer = await this.#calls.run({
      name: operation,
      kind: "write",
      // Sent again without an etag to match, it could bring back what somebody deleted in between.
      mayRepeat: ifMatch !== undefined && ifMatch !== "*",
      script: PUT,
      keys,
      args: [name, text, etag, this.#settings.ttlMs, mode, ifMatch ?? "", tagLines.join("")],
      signal,
      timeoutMs: this.#settings.timeoutMs,
    });
    const [status, current] = answer.parts;
    if (status === "ok") {
      return { etag };
    }
    assertCertain(operation, answer);
    const message = operation === "create" ? "an item with this key exists" : "the etag does not match";
    throw conflictError(`${operation}: ${message}`, current);
  }

  #keys({ owner }: Scope, name: string): ItemKeys {
    return itemKeys(this.#settings.keyPrefix, owner, name);
  }
}

/** The keys in the order in which the scripts that write expect them. */
function writtenKeys({ value, entries, order, tags, expiries }: ItemKeys): readonly string[] {
  return [value, entries, order, tags, expiries];
}

/** A refusal says nothing when the call may have been sent twice: the first time may have been carried out. */
function assertCertain(operation: string, { isRepetition }: Answer): void {
  if (isRepetition) {
    throw new AgentFrameworkError("outcome_unknown", `${operation}: the connection ended before the answer came`, {
      provider: PROVIDER,
    });
  }
}

function assertIfMatch(ifMatch: unknown): void {
  if (ifMatch !== undefined && typeof ifMatch !== "string") {
    throw configurationError("ifMatch", 'must be an etag, or "*"');
  }
}

function assertListOptions({ limit, order, cursor }: { limit: unknown; order: unknown; cursor: unknown }): void {
  assertCount(limit, "limit", 1);
  if (order !== "asc" && order !== "desc") {
    throw configurationError("order", 'must be "asc" or "desc"');
  }
  if (cursor !== undefined && !(typeof cursor === "string" && /^\d{16}$/.test(cursor))) {
    throw configurationError("cursor", "must come from an earlier page");
  }
}

function toStateKeys(parts: readonly string[]): StateKey[] {
  const keys: StateKey[] = [];
  for (let index = 0; index + 2 < parts.length; index += 3) {
    const [name = "", etag = "", lines = ""] = parts.slice(index, index + 3);
    const tags = tagsOf(lines);
    if (tags === undefined) {
      throw corruptError("listKeys", "entry");
    }
    keys.push({ key: nameOf(name), etag, tags });
  }
  return keys;
}
