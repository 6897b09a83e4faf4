import { AgentFrameworkError, configurationError } from "./errors.ts";
import { KnownRecord } from "./message-record.ts";
import type { CallOptions, HistoryKey, HistoryListFilter, HistoryRecord, ReadOptions } from "./ports/history-types.ts";

/**
 * One text for a key, different for any two keys whatever characters they hold. Plain ASCII apart from the
 * characters of the names themselves; lone surrogates come out as escapes.
 */
export function historyKeyText(key: HistoryKey): string {
  return JSON.stringify([key.owner, key.source, key.session]);
}

/** Refuses a key that does not name a conversation: `configuration` naming the part. */
export function assertHistoryKey(key: HistoryKey): void {
  assertObject(key, "key");
  assertOwner(key.owner, "key.owner");
  assertName(key.source, "key.source");
  assertName(key.session, "key.session");
}

/** Refuses what is no session; one that another copy of core made is one. */
export function assertSession(session: { toJSON(): unknown }): void {
  if (typeof session?.toJSON !== "function") {
    throw configurationError("session", "must be an AgentSession");
  }
}

/** Refuses an owner that is neither text nor `null`. */
export function assertOwner(owner: unknown, field: string): asserts owner is string | null {
  if (owner !== null && typeof owner !== "string") {
    throw configurationError(field, "must be a string, or null for nobody's");
  }
}

/** Refuses anything but an object; also arrays, and members whose `typeof` is not the one that `types` gives. */
export function assertObject(
  value: unknown,
  field: string,
  types: Readonly<Record<string, "boolean" | "function" | "string">> = {},
): void {
  if (!isObject(value)) {
    throw configurationError(field, "must be an object");
  }
  for (const name in types) {
    if (value[name] !== undefined && typeof value[name] !== types[name]) {
      throw configurationError(name, `must be a ${types[name]}`);
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Of what type options are in every port that has them; one that is passed wrongly must not be taken for none. */
const TYPES = { cursor: "string", ifMatch: "string", ifVersion: "string", withFirst: "boolean" } as const;

/**
 * What a call begins with: refuses options that are no object, or hold a signal, condition or cursor that is none, and
 * throws the reason of an abort.
 */
export function assertCallOptions(options: CallOptions): void {
  assertObject(options, "options", TYPES);
  const { signal } = options;
  if (signal !== undefined && typeof signal?.throwIfAborted !== "function") {
    throw configurationError("signal", "must be an AbortSignal");
  }
  signal?.throwIfAborted();
}

/** Refuses anything but a non-empty string. */
export function assertName(value: unknown, field: string): asserts value is string {
  if (typeof value !== "string" || value === "") {
    throw configurationError(field, "must be a non-empty string");
  }
}

/** Refuses anything but a whole number of at least `minimum`. */
export function assertCount(value: unknown, field: string, minimum: number): asserts value is number {
  if (!Number.isSafeInteger(value) || Number(value) < minimum) {
    throw configurationError(field, `must be a whole number of at least ${minimum}`);
  }
}

/** Refuses anything but one of two words. */
export function assertOneOf(value: unknown, field: string, words: readonly [string, string]): void {
  if (value !== words[0] && value !== words[1]) {
    throw configurationError(field, `must be "${words.join(`" or "`)}"`);
  }
}

/** The length in bytes of `text` as UTF-8; a lone surrogate counts three, as its replacement does. */
export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Refuses a text of more than so many bytes as UTF-8. @throws `too_large` */
export function assertByteLength(text: string, field: string, maxBytes: number): void {
  // No UTF-8 text is longer than three bytes a unit, so most need no exact count.
  if (text.length * 3 > maxBytes && utf8Length(text) > maxBytes) {
    throw new AgentFrameworkError("too_large", `${field}: above the limit of ${maxBytes} bytes`);
  }
}

/**
 * Refuses records that a store must not take, before anything is written.
 *
 * @throws `configuration` for an empty or repeated id, or `data` that is not one JSON text on one line;
 * `too_large` for `data` above `maxRecordBytes`.
 */
export function assertHistoryRecords(records: readonly HistoryRecord[], maxRecordBytes: number): void {
  if (!Array.isArray(records)) {
    throw configurationError("records", "must be an array");
  }
  const seen = new Set<string>();
  for (let index = 0; index < records.length; index += 1) {
    const fault = faultOf(records[index], seen, index, maxRecordBytes);
    if (fault !== undefined) {
      throw configurationError(`records[${index}]${fault[0]}`, fault[1]);
    }
  }
}

/** What is wrong with a record, if anything; every append asks, so nothing is spelled out before. */
function faultOf(
  record: unknown,
  seen: Set<string>,
  index: number,
  maxRecordBytes: number,
): readonly [member: string, rule: string] | undefined {
  if (!isObject(record)) {
    return ["", "must be an object"];
  }
  const { id, data } = record;
  if (typeof id !== "string" || id === "") {
    return [".id", "must be a non-empty string"];
  }
  if (seen.size === seen.add(id).size) {
    return [".id", "must not repeat within one call"];
  }
  if (typeof data !== "string" || data.includes("\n") || data.includes("\r")) {
    return [".data", "must be one JSON text on one line"];
  }
  if (data.length * 3 > maxRecordBytes) {
    assertByteLength(data, `records[${index}].data`, maxRecordBytes);
  }
  return KnownRecord.is(record) || isWellFormedJson(data) ? undefined : [".data", "must be one well-formed JSON text"];
}

function isWellFormedJson(text: string): boolean {
  try {
    JSON.parse(text);
  } catch {
    return false;
  }
  // Raw lone surrogates are no UTF-8; escaped ones are fine.
  return text.isWellFormed();
}

/** Refuses read options with a count below 1 or an unknown policy. */
export function assertReadOptions(options: ReadOptions): void {
  assertCallOptions(options);
  const { last = 1, before = "-", onCorrupt = "error" } = options;
  assertCount(last, "last", 1);
  assertName(before, "before");
  assertOneOf(onCorrupt, "onCorrupt", ["error", "skip"]);
}

/** Refuses a listing that names neither an owner nor, explicitly, all of them. */
export function assertListFilter(filter: HistoryListFilter): void {
  assertObject(filter, "filter");
  // Also where it is false or undefined: what asks whether there is an allOwners must never list everybody's.
  if ("owner" in filter === "allOwners" in filter || ("allOwners" in filter && filter.allOwners !== true)) {
    throw configurationError("filter", "must hold either an owner or allOwners: true");
  }
  if ("owner" in filter) {
    assertOwner(filter.owner, "filter.owner");
  }
  const { source = "-" } = filter;
  assertName(source, "filter.source");
}

/** Refuses a store that core cannot read: one made for a later contract, or no store at all. */
export function assertContractVersion(store: { readonly contractVersion: number }, field: string): void {
  const version: unknown = isObject(store) ? store["contractVersion"] : undefined;
  if (typeof version !== "number") {
    throw configurationError(field, "must be a store with a contractVersion");
  }
  if (version !== 1) {
    throw new AgentFrameworkError("unsupported", `${field}: contract version ${version} is newer than this core reads`);
  }
}
