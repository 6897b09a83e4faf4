import { isPlainObject, type Tags } from "@agentfw/core";
import { parseObject, parseTags } from "@agentfw/core/backend";
import type { RawItem } from "../backend.ts";
import { memberTexts } from "../json-text.ts";
import { timesOf } from "../limits.ts";
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
  const members = parseObject(text) ?? {};
  const { id, name, user_isolation: userIsolation = false, item_ttl_seconds: itemTtlSeconds, description } = members;
  const tags = tagsOf(members);
  const isNamed = typeof name === "string" && typeof userIsolation === "boolean";
  return isNamed && typeof itemTtlSeconds === "number" && tags !== undefined
    ? Object.freeze({
        id: String(id ?? ""),
        name,
        userIsolation,
        itemTtlSeconds,
        description: textOf(description),
        tags,
        ...timesOf(members["created_at"], members["updated_at"]),
      })
    : undefined;
}

/** A reply to a write. The etag may be in the header alone. */
export function parseReference(
  text: string,
  key: string,
  etag: string | undefined,
): StateStoreItemReference | undefined {
  const members = parseObject(text);
  return members && referenceOf({ key, ...members }, etag);
}

/** A reply that holds an item. */
export function parseItem(text: string, key: string, etag: string | undefined): RawItem | undefined {
  const members = parseObject(text) ?? {};
  const item = keyOf({ key, ...members }, etag);
  const value = isPlainObject(members["value"]) ? memberTexts(text).get("value") : undefined;
  return item && value !== undefined ? { ...item, text: value } : undefined;
}

/** A reply that holds a page of keys. */
export function parsePage(text: string): StateStoreItemKeyPage | undefined {
  const { data, first_id: firstId, last_id: lastId, has_more: hasMore = false } = parseObject(text) ?? {};
  if (!Array.isArray(data) || typeof hasMore !== "boolean") {
    return undefined;
  }
  const keys = data.flatMap((value) => keyOf(value) ?? []);
  return keys.length === data.length ? { keys, firstId: textOf(firstId), lastId: textOf(lastId), hasMore } : undefined;
}

/** A reply that says that something is gone: whether there was anything. */
export function parseTombstone(text: string): boolean | undefined {
  // Both official clients take an empty body for an empty object.
  const members = text === "" ? {} : parseObject(text);
  return members === undefined || members["deleted"] === false ? undefined : Boolean(textOf(members["id"]));
}

function keyOf(value: unknown, etag?: string): StateStoreItemKey | undefined {
  const members = isPlainObject(value) ? value : {};
  const reference = referenceOf(members, etag);
  const tags = tagsOf(members);
  return reference && tags && { ...reference, tags };
}

function referenceOf(members: Members, header: string | undefined): StateStoreItemReference | undefined {
  const { id, key, etag = header } = members;
  return typeof key === "string" && typeof etag === "string"
    ? { id: String(id ?? ""), key, etag, ...timesOf(members["created_at"], members["updated_at"]) }
    : undefined;
}

/** Tags may be missing, or be null. */
function tagsOf({ tags }: Members): Tags | undefined {
  return parseTags(tags ?? {});
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Which field a 400 names, where that is a field's name and nothing else. */
export function errorOf(text: string): { readonly code: string | undefined; readonly param: string | undefined } {
  const { error } = parseObject(text) ?? {};
  const { code, param } = isPlainObject(error) ? error : {};
  return { code: wordOf(code), param: wordOf(param) };
}

function wordOf(value: unknown): string | undefined {
  return typeof value === "string" && /^[\w.[\]-]{1,96}$/.test(value) ? value : undefined;
}
