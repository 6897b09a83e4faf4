import type { CallOptions, Json, Tags } from "@agentfw/core";

/** What a store is, apart from its items. */
export interface StateStoreProperties {
  /** The service's own id; nothing is addressed by it. */
  readonly id: string;
  readonly name: string;
  /** Whether each user has items of their own. */
  readonly userIsolation: boolean;
  /** Idle life of an item in seconds, renewed by writes to it; -1: items never expire. */
  readonly itemTtlSeconds: number;
  readonly description?: string | undefined;
  readonly tags: Tags;
  /** ISO 8601, in whole seconds. */
  readonly createdAt?: string | undefined;
  /** When description or tags were last changed. */
  readonly updatedAt?: string | undefined;
}

/** What a write gives. */
export interface StateStoreItemReference {
  /** The service's own id; nothing is addressed by it. */
  readonly id: string;
  readonly key: string;
  /** Changes with every write. */
  readonly etag: string;
  /** ISO 8601, in whole seconds: too coarse to tell which of two items is newer. */
  readonly createdAt?: string | undefined;
  readonly updatedAt?: string | undefined;
}

/** A JSON object. */
export type JsonObject = Readonly<Record<string, Json>>;

/** One stored item. */
export interface StateStoreItem extends StateStoreItemReference {
  readonly value: JsonObject;
  /** The value's JSON text as it came: numbers beyond 2^53 are exact here, and not in `value`. */
  readonly text: string;
  readonly tags: Tags;
}

/** One item in a listing, without its value. */
export interface StateStoreItemKey extends StateStoreItemReference {
  readonly tags: Tags;
}

/** A page of keys. */
export interface StateStoreItemKeyPage {
  readonly keys: readonly StateStoreItemKey[];
  /** Cursors; no ids of items, whatever they look like. */
  readonly firstId?: string | undefined;
  readonly lastId?: string | undefined;
  readonly hasMore: boolean;
}

/** Options of every item operation. */
export interface ItemOptions extends CallOptions {
  /** On whose behalf. @default the call id that is around, see `runWithCallId` */
  readonly callId?: string | undefined;
}

/** Options of `createItem`. */
export interface CreateItemOptions extends ItemOptions {
  /** Labels to list by: at most 16, names of at most 64 of `A-Za-z0-9_.-`, values of at most 256 characters. */
  readonly tags?: Tags | undefined;
}

/** Options of `setItem`. A write without `tags` leaves the item with none. */
export interface SetItemOptions extends CreateItemOptions {
  /** Write only over this etag, quotes included; else `conflict` with the current one. */
  readonly ifMatch?: string | undefined;
  /** Write only over an item that is there, whichever it is; else `conflict`. Does not go with `ifMatch`. */
  readonly requireExists?: boolean | undefined;
}

/** Options of `deleteItem`. */
export interface DeleteItemOptions extends ItemOptions {
  /** Delete only this etag, quotes included; else `conflict` with the current one. */
  readonly ifMatch?: string | undefined;
}

/** Options of `listItemKeys`. */
export interface ListItemKeysOptions extends ItemOptions {
  /** Only keys that carry all of these tags. */
  readonly tags?: Tags | undefined;
  /** 1 to 100. @default 20 */
  readonly limit?: number | undefined;
  /** By the time of creation. @default "desc" */
  readonly order?: "asc" | "desc" | undefined;
  /** A page's `lastId`: what follows it. */
  readonly after?: string | undefined;
  /** A page's `firstId`: from the beginning of the listing up to it, not the nearest to it. Does not go with `after`. */
  readonly before?: string | undefined;
}

/** Options of `iterateItemKeys`. */
export interface IterateItemKeysOptions extends ItemOptions {
  readonly tags?: Tags | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** How many keys a request asks for, 1 to 100. @default 100 */
  readonly pageSize?: number | undefined;
}

/** What `updateStore` changes; what is absent stays. */
export interface StoreUpdate {
  /** At most 1,024 characters; `null` removes it. */
  readonly description?: string | null | undefined;
  /** Replaces all of them; `null` removes them. */
  readonly tags?: Tags | null | undefined;
}
