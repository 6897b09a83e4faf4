import {
  assertCallOptions,
  assertCount,
  configurationError,
  isPlainObject,
  type Scope,
  type StateListOptions,
  type Tags,
  toJson,
} from "@agentfw/core";
import { assertByteLength, assertIfMatch, assertOneOf, assertOptions, assertOwner } from "@agentfw/core/backend";
import type { ItemCall, ItemWrite, KeysQuery, ScopeCall } from "./backend.ts";
import { assertCallId, currentCallId } from "./call-id.ts";
import { KNOWN_OPTIONS, type Method } from "./call-options.ts";
import { assertDescription, assertPageSize, assertServiceName, assertServiceTags } from "./input-checks.ts";
import { isHeaderValue, LIMITS } from "./limits.ts";
import type { ItemOptions, JsonObject, ListItemKeysOptions, StoreUpdate } from "./types.ts";

/** What a store object knows of the caller. */
interface Bound {
  readonly callId?: string | undefined;
}

/**
 * Whose items: the call that is named, or the one that the store was bound to, or the one that is around.
 *
 * @throws `configuration`, also for the options of another method: one that is left out of account would be a create in
 * spite of `ifMatch`, or a walk without end where the two families of methods go on from a page by another name
 */
export function scopeCall(
  method: Method,
  options: ItemOptions & Pick<Scope, "owner">,
  { callId: bound }: Bound,
): ScopeCall {
  assertCallOptions(options);
  assertOptions(options, "options", KNOWN_OPTIONS[method]);
  const { callId = bound, owner = null, signal } = options;
  if (callId !== undefined) {
    assertCallId(callId);
  }
  assertOwner(owner, "owner");
  return { operation: method, callId: callId ?? currentCallId(), owner, signal };
}

/** Whose item, and which one. @throws `configuration`, the abort reason */
export function itemCall(
  method: Method,
  key: string,
  options: ItemOptions & Pick<Scope, "owner">,
  bound: Bound,
): ItemCall {
  const scope = scopeCall(method, options, bound);
  assertServiceName(key, "key");
  return { ...scope, key };
}

/** A value as the text that is stored. @throws `configuration` naming the path of what JSON cannot hold, `too_large` */
export function valueText(value: JsonObject): string {
  if (!isPlainObject(value)) {
    throw configurationError("value", "must be a JSON object");
  }
  const text = JSON.stringify(toJson(value, "value"));
  assertByteLength(text, "value", LIMITS.valueBytes);
  return text;
}

/** What a write is conditional on. */
interface Condition {
  readonly ifMatch?: string | undefined;
  readonly requireExists?: boolean | undefined;
}

/** What is written, and over what. @throws `configuration` */
export function writeOf(text: string, options: Condition & { readonly tags?: Tags | undefined }): ItemWrite {
  const { tags = {} } = options;
  assertServiceTags(tags);
  return { text, tags: { ...tags }, ifMatch: etagOf(options) };
}

/** The etag that must be there, or `*` for any. @throws `configuration` */
export function etagOf({ ifMatch, requireExists = false }: Condition): string | undefined {
  if (typeof requireExists !== "boolean" || (requireExists && ifMatch !== undefined)) {
    throw configurationError("requireExists", "must be true or false, and does not go with ifMatch");
  }
  if (ifMatch !== undefined && !isHeaderValue(ifMatch)) {
    throw configurationError("ifMatch", 'must be an etag, or "*"');
  }
  return requireExists ? "*" : ifMatch;
}

/** True for no condition, and for one that a header can carry. @throws `configuration` for what is no text */
export function canMatch(ifMatch: unknown): ifMatch is string | undefined {
  assertIfMatch(ifMatch);
  return ifMatch === undefined || isHeaderValue(ifMatch);
}

/** A page in the service's terms. @throws `configuration` */
export function keysQuery(options: ListItemKeysOptions): KeysQuery {
  const { tags = {}, limit, order = "desc", after, before } = options;
  assertServiceTags(tags);
  if (limit !== undefined) {
    assertPageSize(limit, "limit");
  }
  assertOneOf(order, "order", ["asc", "desc"]);
  if (after !== undefined && before !== undefined) {
    throw configurationError("before", "does not go with after");
  }
  return { tags: { ...tags }, limit, order, after: cursor(after, "after"), before: cursor(before, "before") };
}

/** A page in the terms of core's port: the oldest first, 100 keys, and a larger limit is as good as that. */
export function portListing({
  tags,
  limit = LIMITS.pageSize,
  order = "asc",
  cursor: after,
}: StateListOptions): KeysQuery {
  assertCount(limit, "limit", 1);
  return keysQuery({ tags, limit: Math.min(limit, LIMITS.pageSize), order, after: cursor(after, "cursor") });
}

function cursor(value: unknown, field: string): string | undefined {
  if (value !== undefined && (typeof value !== "string" || value === "")) {
    throw configurationError(field, "must come from an earlier page");
  }
  return value;
}

/** What is to change of a store. @throws `configuration` */
export function storeUpdate(changes: StoreUpdate): StoreUpdate {
  assertOptions(changes, "changes", ["description", "tags"]);
  const { description, tags } = changes;
  assertDescription(description ?? "");
  assertServiceTags(tags ?? {});
  return { description, tags: tags === null ? {} : tags };
}
