import {
  AgentFrameworkError,
  assertCount,
  assertName,
  configurationError,
  isPlainObject,
  type Tags,
  utf8Length,
} from "@agentfw/core";
import { encodeText, itemKey, ownerKey, tagKey } from "./keys.ts";
import { PROVIDER } from "./provider.ts";

/** Longest key and longest owner, in UTF-8 bytes. */
const MAX_NAME_BYTES = 8_192;

const MAX_TAGS = 64;

/** All names and values of an item's tags together, in UTF-8 bytes of their JSON text. */
const MAX_TAGS_BYTES = 16_384;

/** Above every position that the server gives. */
const END = 2n ** 63n - 1n;

/** The owner as it is used; an absent one is the unowned partition. @throws `configuration`, `too_large` */
export function ownerOf(owner: unknown): string | null {
  if (owner === undefined || owner === null) {
    return null;
  }
  if (typeof owner !== "string") {
    throw configurationError("owner", "must be a string, or null for the unowned partition");
  }
  assertLength(owner, "owner");
  return owner;
}

/** The hash that stands for an item. @throws `configuration`, `too_large` */
export function checkedKey(owner: string | null, key: unknown): string {
  assertName(key, "key");
  assertLength(key, "key");
  return itemKey(owner, key);
}

/** The names of an item as its row holds them. */
export function itemNames(owner: string | null, key: string): (string | null)[] {
  return [ownerKey(owner), owner === null ? null : encodeText(owner), encodeText(key)];
}

/** Refuses a text that is not one JSON object in valid UTF-8, or too large. @throws `configuration`, `too_large` */
export function assertText(text: unknown, maxValueBytes: number): asserts text is string {
  if (typeof text !== "string") {
    throw configurationError("text", "must be the JSON text of an object");
  }
  if (text.length * 3 > maxValueBytes && utf8Length(text) > maxValueBytes) {
    throw tooLarge("text", maxValueBytes);
  }
  // A raw lone surrogate has no UTF-8, so it would come back as something else; escaped in JSON it is fine.
  if (!isObjectText(text) || !text.isWellFormed()) {
    throw configurationError("text", "must be the JSON text of an object");
  }
}

/** True for the text of one JSON object. */
export function isObjectText(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Tags as they are stored: a JSON text, and what they are looked for by, in one order for the same tags. */
export interface EncodedTags {
  readonly text: string;
  readonly keys: readonly string[];
}

/** Checks tags and takes them apart. @throws `configuration`, `too_large` */
export function encodeTags(owner: string | null, tags: Tags | undefined): EncodedTags {
  if (tags === undefined) {
    return { text: "{}", keys: [] };
  }
  // A Map for one has no entries of its own, and would be no tags at all.
  if (!isPlainObject(tags)) {
    throw configurationError("tags", "must be a plain object of strings");
  }
  const pairs = Object.entries(tags);
  if (pairs.length > MAX_TAGS) {
    throw configurationError("tags", `must be at most ${MAX_TAGS}`);
  }
  if (pairs.some(([name, value]) => name === "" || typeof value !== "string")) {
    throw configurationError("tags", "each must be a string under a non-empty name");
  }
  const text = JSON.stringify(Object.fromEntries(pairs));
  if (utf8Length(text) > MAX_TAGS_BYTES) {
    throw tooLarge("tags", MAX_TAGS_BYTES);
  }
  return { text, keys: pairs.map(([name, value]) => tagKey(owner, name, value)).sort() };
}

/** Refuses what no listing can be made by. @throws `configuration` */
export function assertListOptions({
  limit,
  order,
  cursor,
}: Readonly<Record<"limit" | "order" | "cursor", unknown>>): void {
  assertCount(limit, "limit", 1);
  if (order !== "asc" && order !== "desc") {
    throw configurationError("order", 'must be "asc" or "desc"');
  }
  const isPosition = typeof cursor === "string" && /^\d{1,19}$/.test(cursor) && BigInt(cursor) < END;
  if (cursor !== undefined && !isPosition) {
    throw configurationError("cursor", "must come from an earlier page");
  }
}

/** Refuses an etag of another type. @throws `configuration` */
export function matchOf(ifMatch: unknown): string | null {
  if (ifMatch === undefined) {
    return null;
  }
  if (typeof ifMatch !== "string") {
    throw configurationError("ifMatch", 'must be an etag, or "*"');
  }
  return encodeText(ifMatch);
}

/** True for what JSON calls an object. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function assertLength(name: string, field: string): void {
  if (utf8Length(name) > MAX_NAME_BYTES) {
    throw tooLarge(field, MAX_NAME_BYTES);
  }
}

function tooLarge(field: string, bytes: number): AgentFrameworkError {
  return new AgentFrameworkError("too_large", `${field}: above the limit of ${bytes} bytes`, { provider: PROVIDER });
}
