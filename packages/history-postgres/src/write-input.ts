import {
  AgentFrameworkError,
  assertHistoryRecords,
  assertName,
  assertObject,
  configurationError,
  type HistoryRecord,
  utf8Length,
} from "@agentfw/core";
import { encodeText } from "./keys.ts";
import { PROVIDER } from "./provider.ts";

/** More than this in one statement would hold a conversation's row for too long. */
const MAX_RECORDS = 100_000;
const MAX_BYTES = 256 * 1024 * 1024;

/** What an index of the server can hold, with room to spare. */
const MAX_ID_BYTES = 1024;

/** Records as two lists of lines: neither an encoded id nor the data holds a line break, and none of them is empty. */
export interface EncodedRecords {
  readonly ids: readonly string[];
  readonly idLines: string;
  readonly dataLines: string;
}

/**
 * Checks records and takes them apart.
 *
 * @throws `configuration` for malformed ones; `too_large` for a record, an id or a call above its limit.
 */
export function encodeRecords(records: readonly HistoryRecord[], maxRecordBytes: number): EncodedRecords {
  assertHistoryRecords(records, maxRecordBytes);
  if (records.length > MAX_RECORDS) {
    throw tooLarge(`records: more than ${MAX_RECORDS} in one call`);
  }
  const ids = records.map(({ id }, index) => encodeId(id, index));
  const data = records.map((record) => record.data);
  const units = data.reduce((sum, text) => sum + text.length, 0);
  // No UTF-8 text is longer than three bytes a unit, so most calls need no exact count.
  if (units * 3 > MAX_BYTES && data.reduce((sum, text) => sum + utf8Length(text), 0) > MAX_BYTES) {
    throw tooLarge(`records: above ${MAX_BYTES} bytes in one call`);
  }
  return { ids, idLines: ids.join("\n"), dataLines: data.join("\n") };
}

/** The condition as the functions take it. @throws `configuration` for a version that is no text. */
export function conditionOf(ifVersion: unknown): string | null {
  if (ifVersion === undefined) {
    return null;
  }
  if (typeof ifVersion !== "string") {
    throw configurationError("ifVersion", "must be a version that the store gave, or the empty text");
  }
  return encodeText(ifVersion);
}

/** The ends of a run of records, as they are stored. @throws `configuration` */
export function checkedRange(range: { readonly fromId: string; readonly throughId: string }): {
  fromId: string;
  throughId: string;
} {
  assertObject(range, "range");
  const { fromId, throughId } = range;
  assertName(fromId, "range.fromId");
  assertName(throughId, "range.throughId");
  return { fromId: encodeText(fromId), throughId: encodeText(throughId) };
}

function encodeId(id: string, index: number): string {
  const encoded = encodeText(id);
  if (encoded.length * 3 > MAX_ID_BYTES && utf8Length(encoded) > MAX_ID_BYTES) {
    throw tooLarge(`records[${index}].id: above ${MAX_ID_BYTES} bytes`);
  }
  return encoded;
}

function tooLarge(message: string): AgentFrameworkError {
  return new AgentFrameworkError("too_large", message, { provider: PROVIDER });
}
