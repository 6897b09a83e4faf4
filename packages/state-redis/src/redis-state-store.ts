import { randomBytes } from "node:crypto";
import {
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
import { assertIfMatch, assertOneOf, assertStateText } from "@agentfw/core/backend";
import { Calls } from "./calls.ts";
import { type ItemKeys, itemKeys, storedName } from "./names.ts";
import {
  type RedisSettings,
  type RedisStateStoreConnection,
  type RedisStateStoreOptions,
  resolveConnection,
  resolveOptions,
} from "./options.ts";
import { storedTags } from "./state-input.ts";

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
  readonly #calls: Calls;

  /**
   * Checks the arguments, and begins to load the part of the package that talks to the server. Connects at the first call.
   *
   * @throws `configuration` naming the option and the rule.
   */
  constructor(connection: RedisStateStoreConnection, options: RedisStateStoreOptions = {}) {
    const server = resolveConnection(connection);
    this.#settings = resolveOptions(options);
    const { maxValueBytes, timeoutMs } = this.#settings;
    this.capabilities = { maxValueBytes, ttl: true, isolation: true };
    this.#calls = new Calls(server, timeoutMs);
  }

  async create(
    key: string,
    text: string,
    options: Scope & { readonly tags?: Tags | undefined } = {},
  ): Promise<{ etag: string }> {
    assertCallOptions(options);
    const { owner, tags, signal } = options;
    return this.#put("create", key, text, { owner, tags, signal });
  }

  async set(
    key: string,
    text: string,
    options: Scope & { readonly tags?: Tags | undefined; readonly ifMatch?: string | undefined } = {},
  ): Promise<{ etag: string }> {
    assertCallOptions(options);
    assertIfMatch(options.ifMatch);
    return this.#put("set", key, text, options);
  }

  async get(key: string, options: Scope = {}): Promise<StateItem | undefined> {
    const name = storedName(key);
    assertCallOptions(options);
    const { value, entries } = this.#keys(options, name);
    return await this.#calls.run({
      name: "get",
      kind: "read",
      mayRepeat: true,
      script: "get",
      keys: [value, entries],
      args: [name],
      signal: options.signal,
      receive: (answer) => answer.engine.itemOf(answer, key),
    });
  }

  async delete(key: string, options: Scope & { readonly ifMatch?: string | undefined } = {}): Promise<boolean> {
    assertCallOptions(options);
    const { ifMatch, signal } = options;
    assertIfMatch(ifMatch);
    const name = storedName(key);
    return await this.#calls.run({
      name: "delete",
      kind: "write",
      // Sent again, it could delete what somebody created in between.
      mayRepeat: false,
      script: "delete",
      keys: writtenKeys(this.#keys(options, name)),
      args: [name, ifMatch === undefined ? "any" : "match", ifMatch ?? ""],
      signal,
      receive: (answer) => answer.engine.deletedOf(answer, ifMatch),
    });
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
      const page = await this.#calls.run({
        name: "listKeys",
        kind: "read",
        mayRepeat: true,
        script: "list",
        keys: [keys.entries, keys.order, keys.tags],
        args: [limit - found.length, order, last, ...wanted],
        signal,
        timeoutMs: Math.max(1, Math.ceil(endsAt - performance.now())),
        receive: (answer) => answer.engine.pageOf(answer),
      });
      last = page.last;
      found.push(...page.keys);
    } while (last !== "" && found.length < limit);
    return { keys: found, ...(last === "" ? {} : { cursor: last }) };
  }

  /**
   * Ends the connection that the store made itself, after the calls under way; later calls reject with `unavailable`. A
   * client that was passed in stays open, and so does a store on it.
   */
  close(): Promise<void> {
    return this.#calls.close();
  }

  /** What `create` and `set` have in common. */
  async #put(
    operation: "create" | "set",
    key: string,
    text: string,
    options: Scope & { readonly tags?: Tags | undefined; readonly ifMatch?: string | undefined },
  ): Promise<{ etag: string }> {
    const { tags, ifMatch, signal } = options;
    const name = storedName(key);
    const keys = writtenKeys(this.#keys(options, name));
    const tagLines = storedTags(tags).map((tag) => `${tag}\n`);
    assertStateText(text, this.#settings.maxValueBytes);
    // Made here and not by the server, so that one call sent twice by the driver has one etag. 96 bits never meet again.
    const etag = randomBytes(12).toString("base64url");
    const mode = ifMatch === undefined ? operation : "match";
    return await this.#calls.run({
      name: operation,
      kind: "write",
      // Sent again without an etag to match, it could bring back what somebody deleted in between.
      mayRepeat: ifMatch !== undefined && ifMatch !== "*",
      script: "put",
      keys,
      args: [name, text, etag, this.#settings.ttlMs, mode, ifMatch ?? "", tagLines.join("")],
      signal,
      receive: (answer) => answer.engine.putOf(answer, operation, etag),
    });
  }

  #keys({ owner }: Scope, name: string): ItemKeys {
    return itemKeys(this.#settings.keyPrefix, owner, name);
  }
}

/** The keys in the order in which the scripts that write expect them. */
function writtenKeys({ value, entries, order, tags, expiries }: ItemKeys): readonly string[] {
  return [value, entries, order, tags, expiries];
}

function assertListOptions({ limit, order, cursor }: { limit: unknown; order: unknown; cursor: unknown }): void {
  assertCount(limit, "limit", 1);
  assertOneOf(order, "order", ["asc", "desc"]);
  if (cursor !== undefined && !(typeof cursor === "string" && /^\d{16}$/.test(cursor))) {
    throw configurationError("cursor", "must come from an earlier page");
  }
}
