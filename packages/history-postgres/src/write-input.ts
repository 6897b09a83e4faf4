import { assertHistoryRecords, type HistoryRecord } from "@agentfw/core";
import { assertByteLength, assertCallSize, assertIfVersion, assertRange, escapeText } from "@agentfw/core/backend";

/** More than this in one statement would hold a conversation's row for too long. */
const MOST_IN_ONE_CALL = { maxRecords: 100_000, maxBytes: 256 * 1024 * 1024 };

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
  assertCallSize(records, MOST_IN_ONE_CALL);
  const ids = records.map(encodedId);
  return { ids, idLines: ids.join("\n"), dataLines: records.map(({ data }) => data).join("\n") };
}

/** The condition as the functions take it. @throws `configuration` for a version that is no text. */
export function conditionOf(ifVersion: unknown): string | null {
  assertIfVersion(ifVersion);
  return ifVersion === undefined ? null : escapeText(ifVersion);
}

/** The ends of a run of records, as they are stored. @throws `configuration` */
export function checkedRange(range: { readonly fromId: string; readonly throughId: string }): {
  fromId: string;
  throughId: string;
} {
  const { fromId, throughId } = assertRange(range);
  return { fromId: escapeText(fromId), throughId: escapeText(throughId) };
}

function encodedId({ id }: HistoryRecord, index: number): string {
  const encoded = escapeText(id);
  // Asked here too: most ids are short, and need no name for an error.
  if (encoded.length * 3 > MAX_ID_BYTES) {
    assertByteLength(encoded, `records[${index}].id`, MAX_ID_BYTES);
  }
  return encoded;
}
