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

/** What became of a change: the item that is there now, or was there when it was deleted; or why there was none. */
export type Outcome<T = StoredItem> =
  | { readonly item: T; readonly refusal?: undefined; readonly isNew?: boolean }
  | { readonly item: StoredItem | undefined; readonly refusal: "exists" | "mismatch" };

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
  readonly #items: Map<string, StoredItem>;
  /** In the order of creation, by the second, and by a random id within one; made by the first listing after a change. */
  #sorted: readonly StoredItem[] | undefined;

  constructor(items: readonly StoredItem[] = []) {
    this.#items = new Map(items.map((item) => [item.key, item]));
  }

  /** Every item, whether it has expired or not. */
  get items(): readonly StoredItem[] {
    return [...this.#items.values()];
  }

  /** The item, unless it has expired by `now`. */
  get(key: string, now: number): StoredItem | undefined {
    const item = this.#items.get(key);
    return item !== undefined && isAlive(item, now) ? item : undefined;
  }

  create(write: Write, moment: Moment): Outcome {
    const existing = this.get(write.key, moment.now);
    return existing === undefined ? this.#write(write, moment, undefined) : { item: existing, refusal: "exists" };
  }

  set(write: Write, moment: Moment): Outcome {
    const existing = this.get(write.key, moment.now);
    return matches(existing, write.ifMatch)
      ? this.#write(write, moment, existing)
      : { item: existing, refusal: "mismatch" };
  }

  delete(key: string, now: number, ifMatch?: string): Outcome<StoredItem | undefined> {
    const item = this.get(key, now);
    if (!matches(item, ifMatch)) {
      return { item, refusal: "mismatch" };
    }
    this.remove(key);
    return { item };
  }

  /** Puts an item in its place, whatever is there. */
  put(item: StoredItem): void {
    this.#items.set(item.key, item);
    this.#sorted = undefined;
  }

  /** Takes an item away, if it is there. */
  remove(key: string): void {
    this.#items.delete(key);
    this.#sorted = undefined;
  }

  /** A page of what is alive and carries all of the tags, from where the cursor stands. */
  list({ now, limit, order, tags, after, before }: Listing): Listed {
    const wanted = Object.entries(tags);
    const step = order === "asc" ? 1 : -1;
    const items: StoredItem[] = [];
    this.#sorted ??= this.items.toSorted(compare);
    for (const item of order === "asc" ? this.#sorted : this.#sorted.toReversed()) {
      if (
        isAlive(item, now) &&
        (after === undefined || compare(item, after) * step > 0) &&
        (before === undefined || compare(item, before) * step < 0) &&
        wanted.every(([name, value]) => Object.hasOwn(item.tags, name) && item.tags[name] === value)
      ) {
        if (items.length === limit) {
          return { items, hasMore: true };
        }
        items.push(item);
      }
    }
    return { items, hasMore: false };
  }

  /** The place of the item with this id. */
  positionOf(id: string): Position | undefined {
    return this.items.find((item) => item.id === id);
  }

  /** Takes away what has expired by `now`. */
  sweep(now: number): void {
    for (const item of this.#items.values()) {
      if (!isAlive(item, now)) {
        this.remove(item.key);
      }
    }
  }

  #write(write: Write, moment: Moment, existing: StoredItem | undefined): Outcome {
    const item = itemOf(write, moment, existing);
    this.put(item);
    return { item, isNew: existing === undefined };
  }
}

/** Another version of an item keeps its id and its place. */
function itemOf({ key, text, tags }: Write, { now, ttlSeconds }: Moment, existing: StoredItem | undefined): StoredItem {
  const seconds = Math.floor(now / 1_000);
  return {
    id: existing?.id ?? `it_${randomBytes(12).toString("hex")}`,
    key,
    text,
    tags: Object.freeze({ ...tags }),
    etag: `"${randomBytes(12).toString("hex")}"`,
    createdAt: existing?.createdAt ?? seconds,
    updatedAt: seconds,
    expiresAt: ttlSeconds < 0 ? null : now + ttlSeconds * 1_000,
  };
}

function isAlive({ expiresAt }: StoredItem, now: number): boolean {
  return expiresAt === null || expiresAt > now;
}

function matches(existing: StoredItem | undefined, ifMatch: string | undefined): boolean {
  return ifMatch === undefined || (existing !== undefined && (ifMatch === "*" || ifMatch === existing.etag));
}

/** Which of two comes first in the order of creation. */
export function compare(left: Position, right: Position): number {
  return left.createdAt - right.createdAt || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0);
}
