import {
  assertCount,
  configurationError,
  isPlainObject,
  type Scope,
  type StateListOptions,
  type Tags,
  toJson,
} from "@agentfw/core";
import { assertByteLength, assertOptions, assertOwner } from "@agentfw/core/backend";
import type { ItemCall, ItemWrite, KeysQuery } from "./backend.ts";
import { assertCallId, currentCallId, isHeaderValue } from "./call-id.ts";
import { assertKnownOptions, type Method } from "./call-options.ts";
import { descriptionProblem, LIMITS, limitProblem, nameProblem, orderProblem, tagsProblem } from "./limits.ts";
import { refuse } from "./options.ts";
import type { ItemOptions, JsonObject, ListItemKeysOptions, StoreUpdate } from "./types.ts";

/** What a call may say about whose items it is about. */
type CallScope = ItemOptions & Pick<Scope, "owner">;

/** What a store object knows of the caller. */
interface Bound {
  readonly callId?: string | undefined;
}

/** Whose items: the call that is named, or the one that the store was bound to, or the one that is around. */
export function scopeCall(method: Method, options: CallScope, { callId: bound }: Bound): Omit<ItemCall, "key"> {
  assertKnownOptions(method, options);
  const { callId = bound, owner = null, signal } = options;
  if (callId !== undefined) {
    assertCallId(callId);
  }
  assertOwner(owner, "owner");
  return { callId: callId ?? currentCallId(), owner, signal };
}

/** Whose item, and which one. @throws `configuration`, the abort reason */
export function itemCall(method: Method, key: string, options: CallScope, bound: Bound): ItemCall {
  const scope = scopeCall(method, options, bound);
  refuse(nameProblem(key, "key"));
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
  const { tags } = options;
  refuse(tags === undefined ? undefined : tagsProblem(tags));
  return { text, tags: tags === undefined ? undefined : { ...tags }, ifMatch: etagOf(options) };
}

/** The etag that must be there, or `*` for any. @throws `configuration` */
export function etagOf({ ifMatch, requireExists = false }: Condition): string | undefined {
  if (typeof requireExists !== "boolean") {
    throw configurationError("requireExists", "must be true or false");
  }
  if (requireExists && ifMatch !== undefined) {
    throw configurationError("ifMatch", "does not go with requireExists");
  }
  if (ifMatch !== undefined && (typeof ifMatch !== "string" || !isHeaderValue(ifMatch))) {
    throw configurationError("ifMatch", 'must be an etag, or "*"');
  }
  return requireExists ? "*" : ifMatch;
}

/** A page in the service's terms. @throws `configuration` */
export function keysQuery(options: ListItemKeysOptions): KeysQuery {
  const { tags = {}, limit, order = "desc", after, before } = options;
  refuse(tagsProblem(tags));
  refuse(limit === undefined ? undefined : limitProblem(limit));
  refuse(orderProblem(order));
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
  refuse(description === undefined || description === null ? undefined : descriptionProblem(description));
  refuse(tags === undefined || tags === null ? undefined : tagsProblem(tags));
  return { description, tags };
}
