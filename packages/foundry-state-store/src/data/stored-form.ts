import { isPlainObject } from "@agentfw/core";
import { isObjectText, parseTags } from "@agentfw/core/backend";
import type { StoredItem } from "./partition.ts";
import type { StoreRecord } from "./store-data.ts";

/** An item as a file holds it, or `undefined` for what is none. */
export function parseItem(value: unknown): StoredItem | undefined {
  if (!isPlainObject(value)) {
    return undefined;
  }
  const { id, key, text, etag, createdAt, updatedAt, expiresAt } = value;
  const tags = parseTags(value["tags"]);
  const areTexts = isText(id) && isText(key) && isText(etag);
  const areTimes = isTime(createdAt) && isTime(updatedAt) && (expiresAt === null || isTime(expiresAt));
  if (!areTexts || !areTimes || tags === undefined || typeof text !== "string" || !isObjectText(text)) {
    return undefined;
  }
  return { id, key, text, tags, etag, createdAt, updatedAt, expiresAt };
}

/** A store's record as a file holds it, or `undefined` for what is none. */
export function parseRecord(value: unknown): StoreRecord | undefined {
  if (!isPlainObject(value)) {
    return undefined;
  }
  const { id, name, userIsolation, itemTtlSeconds, description, createdAt, updatedAt } = value;
  const tags = parseTags(value["tags"]);
  const isDescription = description === null || typeof description === "string";
  const isNamed = isText(id) && isText(name) && isDescription && typeof userIsolation === "boolean";
  if (
    !isNamed ||
    tags === undefined ||
    typeof itemTtlSeconds !== "number" ||
    !isTime(createdAt) ||
    !isTime(updatedAt)
  ) {
    return undefined;
  }
  return { id, name, userIsolation, itemTtlSeconds, description, tags, createdAt, updatedAt };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
