import { randomBytes } from "node:crypto";
import type { Tags } from "@agentfw/core";

/** One item as the local store and the emulator keep it. */
export interface StoredItem {
  readonly id: string;
  readonly key: string;
  /** The value's JSON text, as it was written. */
  readonly text: string;
  readonly tags: Tags;
  readonly etag: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Milliseconds since the epoch at which it is gone; `null` for never. */
  readonly expiresAt: number | null;
}

/** What is written. */
export interface Write {
  readonly key: string;
  readonly text: string;
  readonly tags: Tags;
  /** An etag, or `*` for any item that is there. */
  readonly ifMatch?: string | undefined;
}

/** When it is written, and how long it stays. */
export interface Moment {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly ttlSeconds: number;
}

/** What became of a write. */
export type WriteResult =
  | { readonly outcome: "created" | "replaced"; readonly item: StoredItem }
  | { readonly outcome: "exists"; readonly etag: string }
  | { readonly outcome: "mismatch"; readonly etag: string | undefined };

/** What became of a delete. */
export type DeleteResult =
  | { readonly outcome: "deleted"; readonly id: string }
  | { readonly outcome: "absent" }
  | { readonly outcome: "mismatch"; readonly etag: string | undefined };

/** A place in the order of creation. */
export interface Position {
  readonly createdAt: number;
  readonly id: string;
}

/** Which keys to list. */
export interface Listing {
  readonly now: number;
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly tags: Tags;
  readonly after?: Position | undefined;
  readonly before?: Position | undefined;
}

/** A page of items. */
export interface Listed {
  readonly items: readonly StoredItem[];
  readonly hasMore: boolean;
}

/** The items of one user of one store. Times come with each call, so that a test can move them. */
export class Partition {
  readonly #items = new Map<string, StoredItem>();
  /** In the order of creation, by the second, and by a random id within one. */
  readonly #order: StoredItem[] = [];

  constructor(items: Iterable<StoredItem> = []) {
    for (const item of items) {
      this.#items.set(item.key, item);
      this.#order.push(item);
    }
    this.#order.sort(compare);
  }

  /** Every item, whether it has expired or not. */
  items(): IterableIterator<StoredItem> {
    return this.#items.values();
  }

  get size(): number {
    return this.#items.size;
  }

  /** The item, unless it has expired by `now`. */
  get(key: string, now: number): StoredItem | undefined {
    const item = this.#items.get(key);
    return item !== undefined && isAlive(item, now) ? item : undefined;
  }

  create(write: Write, moment: Moment): WriteResult {
    const existing = this.get(write.key, moment.now);
    return existing === undefined ? this.#add(write, moment) : { outcome: "exists", etag: existing.etag };
  }

  set(write: Write, moment: Moment): WriteResult {
    const existing = this.get(write.key, moment.now);
    const { ifMatch } = write;
    if (ifMatch !== undefined && (existing === undefined || (ifMatch !== "*" && ifMatch !== existing.etag))) {
      return { outcome: "mismatch", etag: existing?.etag };
    }
    if (existing === undefined) {
      return this.#add(write, moment);
    }
    const { id, createdAt } = existing;
    const item = { ...itemOf(write, moment), id, createdAt };
    this.put(item);
    return { outcome: "replaced", item };
  }

  delete(key: string, now: number, ifMatch?: string): DeleteResult {
    const existing = this.get(key, now);
    if (ifMatch !== undefined && (existing === undefined || (ifMatch !== "*" && ifMatch !== existing.etag))) {
      return { outcome: "mismatch", etag: existing?.etag };
    }
    this.remove(key);
    return existing === undefined ? { outcome: "absent" } : { outcome: "deleted", id: existing.id };
  }

  /** Puts an item in its place, whatever is there. */
  put(item: StoredItem): void {
    const existing = this.#items.get(item.key);
    const place = this.#placeOf(existing ?? item);
    const isSamePlace = existing !== undefined && compare(existing, item) === 0;
    if (existing !== undefined && !isSamePlace) {
      this.remove(item.key);
    }
    this.#items.set(item.key, item);
    this.#order.splice(isSamePlace ? place : this.#placeOf(item), isSamePlace ? 1 : 0, item);
  }

  /** Takes an item away, if it is there. */
  remove(key: string): void {
    const existing = this.#items.get(key);
    if (existing !== undefined) {
      this.#items.delete(key);
      this.#order.splice(this.#placeOf(existing), 1);
    }
  }

  /** A page of what is alive and carries all of the tags, from where the cursor stands. */
  list({ now, limit, order, tags, after, before }: Listing): Listed {
    const wanted = Object.entries(tags);
    const step = order === "asc" ? 1 : -1;
    const items: StoredItem[] = [];
    const isBeforeEnd = (item: StoredItem) => before === undefined || compare(item, before) * step < 0;
    for (let place = this.#start(order, after); ; place += step) {
      const item = this.#order[place];
      if (item === undefined || !isBeforeEnd(item)) {
        return { items, hasMore: false };
      }
      if (
        isAlive(item, now) &&
        wanted.every(([name, value]) => Object.hasOwn(item.tags, name) && item.tags[name] === value)
      ) {
        if (items.length === limit) {
          return { items, hasMore: true };
        }
        items.push(item);
      }
    }
  }

  /** The place of the item with this id. */
  positionOf(id: string): Position | undefined {
    return this.#order.find((item) => item.id === id);
  }

  /** Takes away what has expired by `now`. */
  sweep(now: number): void {
    for (const item of [...this.#items.values()]) {
      if (!isAlive(item, now)) {
        this.remove(item.key);
      }
    }
  }

  #add(write: Write, moment: Moment): WriteResult {
    const item = itemOf(write, moment);
    this.put(item);
    return { outcome: "created", item };
  }

  #start(order: "asc" | "desc", after: Position | undefined): number {
    if (after === undefined) {
      return order === "asc" ? 0 : this.#order.length - 1;
    }
    const place = this.#placeOf(after);
    const found = this.#order[place];
    const isThere = found !== undefined && compare(found, after) === 0;
    return order === "asc" ? place + (isThere ? 1 : 0) : place - 1;
  }

  /** The first place whose item is not before this one. */
  #placeOf(position: Position): number {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const item = this.#order[middle];
      if (item !== undefined && compare(item, position) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}

function itemOf({ key, text, tags }: Write, { now, ttlSeconds }: Moment): StoredItem {
  const seconds = Math.floor(now / 1_000);
  return {
    id: `it_${randomBytes(12).toString("hex")}`,
    key,
    text,
    tags: Object.freeze({ ...tags }),
    etag: `"${randomBytes(12).toString("hex")}"`,
    createdAt: seconds,
    updatedAt: seconds,
    expiresAt: ttlSeconds < 0 ? null : now + ttlSeconds * 1_000,
  };
}

function isAlive({ expiresAt }: StoredItem, now: number): boolean {
  return expiresAt === null || expiresAt > now;
}

/** Which of two comes first in the order of creation. */
export function compare(left: Position, right: Position): number {
  return left.createdAt - right.createdAt || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0);
}
