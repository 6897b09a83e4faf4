import { isPlainObject, type Tags } from "@agentfw/core";
import { isObjectText, parseTags } from "@agentfw/core/backend";
import type { StoredItem } from "./partition.ts";
import type { StoreRecord } from "./store-data.ts";

/** What each member must be. */
type Form<T> = { readonly [Name in keyof T]: (value: unknown) => value is T[Name] };

const ITEM: Form<StoredItem> = {
  id: isName,
  key: isName,
  text: isValue,
  tags: isTags,
  etag: isName,
  createdAt: isTime,
  updatedAt: isTime,
  expiresAt: (value) => value === null || isTime(value),
};

const RECORD: Form<StoreRecord> = {
  id: isName,
  name: isName,
  userIsolation: (value) => typeof value === "boolean",
  itemTtlSeconds: (value) => typeof value === "number",
  description: (value) => value === null || typeof value === "string",
  tags: isTags,
  createdAt: isTime,
  updatedAt: isTime,
};

/** An item as a file holds it, or `undefined` for what is none. */
export function parseItem(value: unknown): StoredItem | undefined {
  return hasForm(value, ITEM) ? frozen(value) : undefined;
}

/** A store's record as a file holds it, or `undefined` for what is none. */
export function parseRecord(value: unknown): StoreRecord | undefined {
  return hasForm(value, RECORD) ? frozen(value) : undefined;
}

/** Callers get the tags as they are. */
function frozen<T extends { readonly tags: Tags }>(value: T): T {
  Object.freeze(value.tags);
  return value;
}

function hasForm<T>(value: unknown, form: Form<T>): value is T {
  return (
    isPlainObject(value) &&
    Object.entries<(member: unknown) => boolean>(form).every(([name, isMember]) => isMember(value[name]))
  );
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isValue(value: unknown): value is string {
  return typeof value === "string" && isObjectText(value);
}

function isTime(value: unknown): value is number {
  return Number.isFinite(value);
}

function isTags(value: unknown): value is Tags {
  return parseTags(value) !== undefined;
}
