import { assertCount, assertName, configurationError, type Tags } from "@agentfw/core";
import {
  assertByteLength,
  assertIfMatch,
  assertOneOf,
  assertOwner,
  assertTagLimits,
  assertTags,
  escapeText,
} from "@agentfw/core/backend";
import { itemKey, ownerKey, tagKey } from "./keys.ts";

/** Longest key and longest owner, in UTF-8 bytes. */
const MAX_NAME_BYTES = 8_192;

const TAG_LIMITS = { maxTags: 64, maxBytes: 16_384 };

/** Above every position that the server gives. */
const END = 2n ** 63n - 1n;

/** The owner as it is used; an absent one is the unowned partition. @throws `configuration`, `too_large` */
export function ownerOf(owner: unknown): string | null {
  if (owner === undefined || owner === null) {
    return null;
  }
  assertOwner(owner, "owner");
  assertByteLength(owner, "owner", MAX_NAME_BYTES);
  return owner;
}

/** The hash that stands for an item. @throws `configuration`, `too_large` */
export function checkedKey(owner: string | null, key: unknown): string {
  assertName(key, "key");
  assertByteLength(key, "key", MAX_NAME_BYTES);
  return itemKey(owner, key);
}

/** The names of an item as its row holds them. */
export function itemNames(owner: string | null, key: string): (string | null)[] {
  return [ownerKey(owner), owner === null ? null : escapeText(owner), escapeText(key)];
}

/** Tags as they are stored: a JSON text, and what they are looked for by, in one order for the same tags. */
export interface EncodedTags {
  readonly text: string;
  readonly keys: readonly string[];
}

/** Checks tags and takes them apart. @throws `configuration`, `too_large` */
export function encodeTags(owner: string | null, tags: Tags = {}): EncodedTags {
  assertTags(tags);
  assertTagLimits(tags, TAG_LIMITS);
  const keys = Object.entries(tags).map(([name, value]) => tagKey(owner, name, value));
  return { text: JSON.stringify(tags), keys: keys.sort() };
}

/** Refuses what no listing can be made by. @throws `configuration` */
export function assertListOptions({
  limit,
  order,
  cursor,
}: Readonly<Record<"limit" | "order" | "cursor", unknown>>): void {
  assertCount(limit, "limit", 1);
  assertOneOf(order, "order", ["asc", "desc"]);
  const isPosition = typeof cursor === "string" && /^\d{1,19}$/.test(cursor) && BigInt(cursor) < END;
  if (cursor !== undefined && !isPosition) {
    throw configurationError("cursor", "must come from an earlier page");
  }
}

/** Refuses an etag of another type. @throws `configuration` */
export function matchOf(ifMatch: unknown): string | null {
  assertIfMatch(ifMatch);
  return ifMatch === undefined ? null : escapeText(ifMatch);
}
