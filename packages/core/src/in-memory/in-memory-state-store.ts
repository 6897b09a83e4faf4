import { assertStateText, assertTags } from "../backend/state-input.ts";
import type { StateStore } from "../ports/state-store.ts";
import type { Scope, StateCapabilities, StateItem, StateKey, StateListOptions, Tags } from "../ports/state-types.ts";
import { assertCount, assertName, assertObject, assertOneOf } from "../store-input.ts";
import { conflict, idleMs, MAX_BYTES, Partitions } from "./in-memory-parts.ts";

/** Options of {@link InMemoryStateStore}. */
export interface InMemoryStateStoreOptions {
  /** Idle life of an item, renewed by writes. @default forever */
  readonly ttlSeconds?: number | undefined;
  /** Milliseconds since the epoch, for expiry only. @default Date.now */
  readonly now?: (() => number) | undefined;
}

interface Entry extends StateItem {
  /** Position in the order of creation. */
  readonly created: number;
  readonly expiresAt: number;
}

/** The reference implementation of {@link StateStore}: one process, nothing survives it. */
export class InMemoryStateStore implements StateStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: StateCapabilities = { maxValueBytes: MAX_BYTES, ttl: true, isolation: true };

  readonly #owners = new Partitions<Entry>();
  readonly #ttlMs: number;
  readonly #now: () => number;
  #writes = 0;

  constructor(options: InMemoryStateStoreOptions = {}) {
    assertObject(options, "options");
    this.#ttlMs = idleMs(options.ttlSeconds);
    this.#now = options.now ?? Date.now;
  }

  async create(
    key: string,
    text: string,
    options: Scope & { readonly tags?: Tags | undefined } = {},
  ): Promise<{ etag: string }> {
    const items = this.#enter(key, options);
    const existing = this.#live(items, key);
    if (existing !== undefined) {
      throw conflict("the key is taken", existing.etag);
    }
    return this.#write(items, key, text, options.tags, undefined);
  }

  async set(
    key: string,
    text: string,
    options: Scope & { readonly tags?: Tags | undefined; readonly ifMatch?: string | undefined } = {},
  ): Promise<{ etag: string }> {
    const items = this.#enter(key, options);
    const existing = this.#live(items, key);
    assertMatch(existing, options.ifMatch);
    return this.#write(items, key, text, options.tags, existing);
  }

  async get(key: string, options: Scope = {}): Promise<StateItem | undefined> {
    const entry = this.#live(this.#enter(key, options), key);
    return entry === undefined ? undefined : { key, text: entry.text, etag: entry.etag, tags: entry.tags };
  }

  async delete(key: string, options: Scope & { readonly ifMatch?: string | undefined } = {}): Promise<boolean> {
    const items = this.#enter(key, options);
    const existing = this.#live(items, key);
    if (existing !== undefined || options.ifMatch !== undefined) {
      assertMatch(existing, options.ifMatch);
    }
    return items.delete(key);
  }

  async listKeys(options: StateListOptions = {}): Promise<{ keys: StateKey[]; cursor?: string | undefined }> {
    const items = this.#enter("-", options);
    const { tags = {}, limit = 100, order = "asc", cursor } = options;
    assertTags(tags);
    assertCount(limit, "limit", 1);
    assertOneOf(order, "order", ["asc", "desc"]);
    const direction = order === "asc" ? 1 : -1;
    let after = -direction * Number.POSITIVE_INFINITY;
    if (cursor !== undefined) {
      after = Number.parseInt(cursor, 10);
      assertCount(after, "cursor", 0);
    }
    const matching = [...items.keys()]
      .map((key) => this.#live(items, key))
      .filter((entry) => entry !== undefined)
      .filter((entry) => (entry.created - after) * direction > 0)
      .filter((entry) => Object.entries(tags).every(([name, value]) => entry.tags[name] === value))
      .sort((left, right) => (left.created - right.created) * direction);
    const page = matching.slice(0, limit);
    return {
      keys: page.map(({ key, etag, tags }) => ({ key, etag, tags })),
      cursor: matching.length > limit ? String(page.at(-1)?.created) : undefined,
    };
  }

  /** Checks what every call has in common and gives the items of its owner. */
  #enter(key: string, scope: Scope): Map<string, Entry> {
    assertName(key, "key");
    return this.#owners.of(scope);
  }

  #live(items: Map<string, Entry>, key: string): Entry | undefined {
    const entry = items.get(key);
    if (entry !== undefined && entry.expiresAt <= this.#now()) {
      items.delete(key);
      return undefined;
    }
    return entry;
  }

  #write(
    items: Map<string, Entry>,
    key: string,
    text: string,
    tags: Tags | undefined = {},
    existing: Entry | undefined,
  ): { etag: string } {
    assertStateText(text, this.capabilities.maxValueBytes);
    assertTags(tags);
    this.#writes += 1;
    const etag = String(this.#writes);
    items.set(key, {
      key,
      text,
      etag,
      tags: Object.freeze({ ...tags }),
      created: existing?.created ?? this.#writes,
      expiresAt: this.#now() + this.#ttlMs,
    });
    return { etag };
  }
}

function assertMatch(existing: Entry | undefined, ifMatch: string | undefined): void {
  if (ifMatch !== undefined && (existing === undefined || (ifMatch !== "*" && ifMatch !== existing.etag))) {
    throw conflict("the etag does not match", existing?.etag);
  }
}
