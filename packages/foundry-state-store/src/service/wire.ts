import { isPlainObject, type Tags } from "@agentfw/core";
import type { RawItem } from "../backend.ts";
import { jsonObject, parseTags } from "../json-object.ts";
import { memberTexts } from "../json-text.ts";
import type {
  StateStoreItemKey,
  StateStoreItemKeyPage,
  StateStoreItemReference,
  StateStoreProperties,
} from "../types.ts";

/*
 * Replies are read for what is needed, and nothing else: `object` may be missing, `tags` and `value` may be null, and there
 * may be members that this version does not know. `undefined` stands for a reply that lacks what is needed.
 */

type Members = Readonly<Record<string, unknown>>;

/** A reply that describes a store. */
export function parseStore(text: string): StateStoreProperties | undefined {
  const members = jsonObject(text);
  const { id, name, user_isolation: userIsolation = false, item_ttl_seconds: itemTtlSeconds } = members ?? {};
  const tags = tagsOf(members?.["tags"]);
  if (members === undefined || tags === undefined || typeof name !== "string") {
    return undefined;
  }
  if (typeof userIsolation !== "boolean" || typeof itemTtlSeconds !== "number") {
    return undefined;
  }
  const { description } = members;
  return Object.freeze({
    id: String(id ?? ""),
    name,
    userIsolation,
    itemTtlSeconds,
    description: typeof description === "string" ? description : undefined,
    tags,
    ...timesOf(members),
  });
}

/** A reply to a write. The etag may be in the header alone. */
export function parseReference(
  text: string,
  key: string,
  etag: string | undefined,
): StateStoreItemReference | undefined {
  const members = jsonObject(text);
  return members === undefined ? undefined : referenceOf({ key, etag, ...members }, etag);
}

/** A reply that holds an item. */
export function parseItem(text: string, key: string, etag: string | undefined): RawItem | undefined {
  const members = jsonObject(text);
  const reference = parseReference(text, key, etag);
  const tags = tagsOf(members?.["tags"]);
  const value = isPlainObject(members?.["value"]) ? memberTexts(text).get("value") : undefined;
  return reference === undefined || tags === undefined || value === undefined
    ? undefined
    : { ...reference, text: value, tags };
}

/** A reply that holds a page of keys. */
export function parsePage(text: string): StateStoreItemKeyPage | undefined {
  const members = jsonObject(text);
  const { data, first_id: firstId, last_id: lastId, has_more: hasMore = false } = members ?? {};
  if (!Array.isArray(data) || typeof hasMore !== "boolean") {
    return undefined;
  }
  const keys = data.map(keyOf).filter((key) => key !== undefined);
  return keys.length === data.length
    ? { keys, firstId: cursorOf(firstId), lastId: cursorOf(lastId), hasMore }
    : undefined;
}

/** A reply that says that something is gone: the id of what was there, or `null` when nothing was. */
export function parseTombstone(text: string): string | null | undefined {
  // Both official clients take an empty body for an empty object.
  const members = text === "" ? {} : jsonObject(text);
  if (members === undefined || members["deleted"] === false) {
    return undefined;
  }
  const { id } = members;
  return typeof id === "string" && id !== "" ? id : null;
}

function keyOf(value: unknown): StateStoreItemKey | undefined {
  const reference = isPlainObject(value) ? referenceOf(value, undefined) : undefined;
  const tags = isPlainObject(value) ? tagsOf(value["tags"]) : undefined;
  return reference === undefined || tags === undefined ? undefined : { ...reference, tags };
}

function referenceOf(members: Members, header: string | undefined): StateStoreItemReference | undefined {
  const { id, key, etag = header } = members;
  return typeof key === "string" && typeof etag === "string"
    ? { id: String(id ?? ""), key, etag, ...timesOf(members) }
    : undefined;
}

function timesOf(members: Members): { createdAt?: string; updatedAt?: string } {
  const [createdAt, updatedAt] = [timeOf(members["created_at"]), timeOf(members["updated_at"])];
  return { ...(createdAt === undefined ? {} : { createdAt }), ...(updatedAt === undefined ? {} : { updatedAt }) };
}

/** The wire counts seconds. */
export function timeOf(seconds: unknown): string | undefined {
  const isTime = typeof seconds === "number" && Math.abs(seconds) < 8.64e12;
  return isTime ? new Date(seconds * 1_000).toISOString() : undefined;
}

function cursorOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Tags may be missing, or be null. */
function tagsOf(value: unknown): Tags | undefined {
  return parseTags(value ?? {});
}

/** Which field a 400 names, where that is a field's name and nothing else. */
export function errorOf(text: string): { readonly code: string | undefined; readonly param: string | undefined } {
  const error = jsonObject(text)?.["error"];
  const word = (value: unknown) => (typeof value === "string" && /^[\w.[\]-]{1,96}$/.test(value) ? value : undefined);
  return isPlainObject(error)
    ? { code: word(error["code"]), param: word(error["param"]) }
    : { code: undefined, param: undefined };
}
