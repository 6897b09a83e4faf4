import type { HistoryPage, HistoryRecord, ReadOptions } from "@agentfw/core";
import { isWholeJson, unescapeText } from "@agentfw/core/backend";
import type { Row } from "./connection.ts";
import { errors } from "./errors.ts";
import { textOf } from "./replies.ts";

/**
 * The page that the read function's rows hold. The options have been checked. One pass over the rows, because a page is
 * taken apart at every run.
 *
 * @throws `corrupt`, unless the options say to skip; `conflict` for a cursor whose record is gone.
 */
export function pageOf(rows: readonly Row[], options: ReadOptions): HistoryPage {
  const { last, before, withFirst, onCorrupt = "error" } = options;
  const version = rows[0] === undefined ? "" : lineOf(rows[0]);
  if (before !== undefined && (version === "" || rows[1]?.[0] === "gone")) {
    throw errors.conflict("before: the record that the cursor points at is no longer stored", version);
  }
  const corrupt: string[] = [];
  const firstLine = withFirst === true ? firstLineOf(rows[1]) : undefined;
  const first = firstLine === undefined ? undefined : recordOf(firstLine, corrupt);
  const newest = firstLine === undefined ? 1 : 2;
  const end = Math.min(rows.length, newest + (last ?? rows.length));
  const records: HistoryRecord[] = [];
  for (let index = end - 1; index >= newest; index -= 1) {
    const record = recordOf(lineOf(rows[index]), corrupt);
    if (record !== undefined) {
      records.push(record);
    }
  }
  if (corrupt[0] !== undefined && onCorrupt === "error") {
    const position = `seq ${corrupt[0]}`;
    throw errors.corrupt(`read: a stored record cannot be read (${position})`, position);
  }
  return {
    records,
    version,
    ...(end < rows.length && end > newest ? { older: positionOf(lineOf(rows[end - 1])) } : {}),
    ...(first === undefined ? {} : { first }),
    ...(onCorrupt === "skip" ? { corrupt: corrupt.map((position) => `seq ${position}`) } : {}),
  };
}

function lineOf(row: Row | undefined): string {
  return textOf(row?.[0], "read");
}

/** The conversation's first record, where the row is the one that holds it. */
function firstLineOf(row: Row | undefined): string | undefined {
  const prefix = "first ";
  const text = row === undefined ? "" : lineOf(row);
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

/** The record of a line. Without one where it cannot be read, which is told once for each position. */
function recordOf(line: string, corrupt: string[]): HistoryRecord | undefined {
  const space = line.indexOf(" ");
  const feed = line.indexOf("\n");
  const data = line.slice(feed + 1);
  if (space > 0 && feed > space + 1 && isWholeJson(data)) {
    return { id: unescapeText(line.slice(space + 1, feed)), data };
  }
  const position = positionOf(line);
  if (!corrupt.includes(position)) {
    corrupt.push(position);
  }
  return undefined;
}

function positionOf(line: string): string {
  return line.slice(0, Math.max(0, line.indexOf(" ")));
}
