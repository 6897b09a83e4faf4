import { configurationError, type HistoryPage, type HistoryRecord, type ReadOptions } from "@agentfw/core";
import type { Row } from "./connection.ts";
import { conflictError, corruptError, unexpectedAnswer } from "./errors.ts";
import { decodeText } from "./keys.ts";
import type { Names } from "./names.ts";

/** Takes a cursor apart: the position of a page's oldest record. @throws `configuration` for what was never one. */
export function parseCursor(text: string): string {
  if (!/^[1-9]\d{0,18}$/.test(text)) {
    throw configurationError("before", "must be a cursor that read gave");
  }
  return text;
}

/**
 * One statement for a page: the conversation's version, then, where asked for, that the cursor's record is there and
 * the first record, then the newest records, newest first. A statement sees the tables at one point in time.
 *
 * The limit is a literal: with a parameter in its place the planner guesses, and may sort a whole conversation.
 */
export function readStatement(names: Names, { last, before, withFirst }: ReadOptions): string {
  const records = `${names.record} AS r WHERE r.k = $1`;
  const parts = [
    `SELECT 'version' AS part, c.seq::text AS seq, NULL::text AS id, NULL::text AS data FROM ${names.conversation} AS c
WHERE c.k = $1 AND (c.expires_at IS NULL OR c.expires_at > now())`,
  ];
  if (before !== undefined) {
    parts.push(`(SELECT 'cursor', NULL, NULL, NULL FROM ${records} AND r.seq = $2)`);
  }
  if (withFirst === true) {
    parts.push(`(SELECT 'first', r.seq::text, r.id, r.data FROM ${records} AND r.seq > 0 ORDER BY r.seq LIMIT 1)`);
  }
  const range = before === undefined ? "r.seq > 0" : "r.seq > 0 AND r.seq < $2";
  // One more than is asked for, to see whether there is one.
  const limit = last === undefined ? "" : ` LIMIT ${last + 1}`;
  parts.push(`(SELECT NULL, r.seq::text, r.id, r.data FROM ${records} AND ${range} ORDER BY r.seq DESC${limit})`);
  return parts.join("\nUNION ALL ");
}

/** A row of the statement. */
interface Stored {
  readonly seq: string;
  readonly id: unknown;
  readonly data: unknown;
}

/** The page that the rows hold. @throws `corrupt`, unless the options say to skip; `conflict` for a cursor that is gone. */
export function pageOf(rows: readonly Row[], options: ReadOptions): HistoryPage {
  const { last, before, onCorrupt = "error" } = options;
  const { version, hasCursor, first, stored } = partsOf(rows);
  if (version === undefined) {
    if (before !== undefined) {
      throw conflictError("before: the record that the cursor points at is no longer stored", "");
    }
    // Rows without a conversation are what an expired one has left until it is swept.
    return { records: [], version: "" };
  }
  if (before !== undefined && !hasCursor) {
    throw conflictError("before: the record that the cursor points at is no longer stored", version);
  }
  const page = last === undefined ? stored : stored.slice(0, last);
  const corrupt: string[] = [];
  const records = page.reverse().flatMap((one) => readable(one, corrupt));
  const firstRecord = first === undefined ? [] : readable(first, page[0]?.seq === first.seq ? [] : corrupt);
  if (corrupt[0] !== undefined && onCorrupt === "error") {
    throw corruptError(corrupt[0]);
  }
  const oldest = page[0];
  return {
    records,
    version,
    ...(stored.length > page.length && oldest !== undefined ? { older: oldest.seq } : {}),
    ...(firstRecord[0] === undefined ? {} : { first: firstRecord[0] }),
    ...(onCorrupt === "skip" ? { corrupt } : {}),
  };
}

function partsOf(rows: readonly Row[]) {
  let version: string | undefined;
  let hasCursor = false;
  let first: Stored | undefined;
  const stored: Stored[] = [];
  for (const [part, seq, id, data] of rows) {
    if (part === "cursor") {
      hasCursor = true;
      continue;
    }
    if (typeof seq !== "string") {
      throw unexpectedAnswer("read");
    }
    if (part === null) {
      stored.push({ seq, id, data });
    } else if (part === "first") {
      first = { seq, id, data };
    } else {
      version = seq;
    }
  }
  return { version, hasCursor, first, stored };
}

/** The record that a row is, or nothing and a note of where it is. */
function readable({ seq, id, data }: Stored, corrupt: string[]): HistoryRecord[] {
  if (typeof id === "string" && typeof data === "string" && isWhole(data)) {
    return [{ id: decodeText(id), data }];
  }
  corrupt.push(`seq ${seq}`);
  return [];
}

/**
 * True for a text that begins and ends as JSON does. A text that was cut or overwritten is told by that, at no cost;
 * damage below is told by the server's checksums, and by whoever parses the text.
 */
function isWhole(data: string): boolean {
  const ends = `${data[0]}${data.at(-1)}`;
  if (ends === "{}" || ends === "[]" || (ends === '""' && data.length > 1)) {
    return true;
  }
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}
