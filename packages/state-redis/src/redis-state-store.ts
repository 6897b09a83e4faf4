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
import { assertOneOf, assertStateText, ServerCalls } from "@agentfw/core/backend";
import { resolveConnection } from "./address.ts";
import type { RedisClient } from "./client.ts";
import { type Engine, loadEngine, type Request } from "./load-engine.ts";
import { type ItemKeys, itemKeys, storedName } from "./names.ts";
import {
  type RedisSettings,
  type RedisStateStoreConnection,
  type RedisStateStoreOptions,
  resolveOptions,
} from "./options.ts";
import { scriptCall } from "./script-call.ts";
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
  readonly #calls: ServerCalls<RedisClient, Engine>;

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
    this.#calls = new ServerCalls("state-redis", timeoutMs, () => loadEngine(server, timeoutMs));
  }

  create(
    key: string,
    text: string,
    options: Scope & { readonly tags?: Tags | undefined } = {},
  ): Promise<{ etag: string }> {
    return this.#put("create", key, text, options);
  }

  set(
    key: string,
    text: string,
    options: Scope & { readonly tags?: Tags | undefined; readonly ifMatch?: string | undefined } = {},
  ): Promise<{ etag: string }> {
    return this.#put("set", key, text, options);
  }

  get(key: string, options: Scope = {}): Promise<StateItem | undefined> {
    return this.#calls.run(() => {
      const name = storedName(key);
      assertCallOptions(options);
      const { value, entries } = this.#keys(options, name);
      return {
        name: "get",
        kind: "read",
        mayRepeat: true,
        signal: options.signal,
        ...scriptCall("get", [value, entries], [name]),
        receive: (reply, engine) => engine.itemOf(reply, key),
      };
    });
  }

  delete(key: string, options: Scope & { readonly ifMatch?: string | undefined } = {}): Promise<boolean> {
    return this.#calls.run(() => {
      assertCallOptions(options);
      const name = storedName(key);
      return {
        name: "delete",
        kind: "write",
        // Sent again, it could delete what somebody created in between.
        mayRepeat: false,
        signal: options.signal,
        ...scriptCall("delete", Object.values(this.#keys(options, name)), [name, conditionOf(options.ifMatch)]),
        receive: (reply, engine, isRepetition) => engine.wasWritten(reply, false, isRepetition),
      };
    });
  }

  listKeys(options: StateListOptions = {}): Promise<{ keys: StateKey[]; cursor?: string }> {
    return this.#calls.run(() => {
      assertCallOptions(options);
      const { tags, limit = 100, order = "asc", cursor = "", signal } = options;
      assertCount(limit, "limit", 1);
      assertOneOf(order, "order", ["asc", "desc"]);
      assertCursor(options.cursor);
      const wanted = storedTags(tags);
      const keys = Object.values(this.#keys(options, ""));
      const found: StateKey[] = [];
      let last = cursor;
      const nextPage = (): Request<{ keys: StateKey[]; cursor?: string }> => ({
        name: "listKeys",
        kind: "read",
        mayRepeat: true,
        signal,
        ...scriptCall("list", keys, [String(limit - found.length), order, last, ...wanted]),
        next: (reply, engine) => {
          const page = engine.pageOf(reply);
          last = page.last;
          found.push(...page.keys);
          return last !== "" && found.length < limit ? nextPage() : undefined;
        },
        receive: () => ({ keys: found, ...(last === "" ? {} : { cursor: last }) }),
      });
      return nextPage();
    });
  }

  /** Ends the connection that the store made, after the calls under way. A client that was passed in stays open. */
  async close(): Promise<void> {
    await this.#calls.close();
  }

  /** What `create` and `set` have in common. */
  #put(
    operation: "create" | "set",
    key: string,
    text: string,
    options: Scope & { readonly tags?: Tags | undefined; readonly ifMatch?: string | undefined },
  ): Promise<{ etag: string }> {
    return this.#calls.run(() => {
      assertCallOptions(options);
      const isCreate = operation === "create";
      const condition = isCreate ? "none" : conditionOf(options.ifMatch);
      const { maxValueBytes, ttlMs } = this.#settings;
      const name = storedName(key);
      const keys = Object.values(this.#keys(options, name));
      const tagLines = storedTags(options.tags).map((tag) => `${tag}\n`);
      assertStateText(text, maxValueBytes);
      // Made here and not by the server, so that one call sent twice by the driver has one etag. 96 bits never meet again.
      const etag = randomBytes(12).toString("base64url");
      return {
        name: operation,
        kind: "write",
        // Sent again without an etag to match, it could bring back what somebody deleted in between.
        mayRepeat: condition.startsWith("=") && condition !== "=*",
        signal: options.signal,
        ...scriptCall("put", keys, [name, condition, text, etag, String(ttlMs), tagLines.join("")]),
        receive: (reply, engine, isRepetition) => {
          engine.wasWritten(reply, isCreate, isRepetition);
          return { etag };
        },
      };
    });
  }

  #keys({ owner }: Scope, name: string): ItemKeys {
    return itemKeys(this.#settings.keyPrefix, owner, name);
  }
}

/** The condition as the scripts take it. */
function conditionOf(ifMatch: string | undefined): string {
  return ifMatch === undefined ? "any" : `=${ifMatch}`;
}

function assertCursor(cursor: unknown): void {
  if (cursor !== undefined && !(typeof cursor === "string" && /^\d{16}$/.test(cursor))) {
    throw configurationError("cursor", "must come from an earlier page");
  }
}
