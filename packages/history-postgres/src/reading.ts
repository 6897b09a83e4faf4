import type { HistoryPage, HistoryRecord, ReadOptions } from "@agentfw/core";
import type { Row } from "./connection.ts";
import { corruptError } from "./corrupt-error.ts";
import { conflictError, unexpectedAnswer } from "./errors.ts";
import { decodeText } from "./keys.ts";

/**
 * The page that the read function's rows hold. The options have been checked. One pass over the rows, because a page is
 * taken apart at every run.
 *
 * @throws `corrupt`, unless the options say to skip; `conflict` for a cursor whose record is gone.
 */
export function pageOf(rows: readonly Row[], options: ReadOptions): HistoryPage {
  const { last, before, withFirst, onCorrupt = "error" } = options;
  const version = rows[0] === undefined ? "" : textOf(rows[0]);
  if (before !== undefined && (version === "" || rows[1]?.[0] === "gone")) {
    throw conflictError("before: the record that the cursor points at is no longer stored", version);
  }
  const corrupt: string[] = [];
  const firstLine = withFirst === true ? firstLineOf(rows[1]) : undefined;
  const first = firstLine === undefined ? undefined : recordOf(firstLine, corrupt);
  const newest = firstLine === undefined ? 1 : 2;
  const end = Math.min(rows.length, newest + (last ?? rows.length));
  const records: HistoryRecord[] = [];
  for (let index = end - 1; index >= newest; index -= 1) {
    const record = recordOf(textOf(rows[index]), corrupt);
    if (record !== undefined) {
      records.push(record);
    }
  }
  if (corrupt[0] !== undefined && onCorrupt === "error") {
    throw corruptError(`seq ${corrupt[0]}`);
  }
  return {
    records,
    version,
    ...(end < rows.length && end > newest ? { older: positionOf(textOf(rows[end - 1])) } : {}),
    ...(first === undefined ? {} : { first }),
    ...(onCorrupt === "skip" ? { corrupt: corrupt.map((position) => `seq ${position}`) } : {}),
  };
}

function textOf(row: Row | undefined): string {
  const text = row?.[0];
  if (typeof text !== "string") {
    throw unexpectedAnswer("read");
  }
  return text;
}

/** The conversation's first record, where the row is the one that holds it. */
function firstLineOf(row: Row | undefined): string | undefined {
  const prefix = "first ";
  const text = row === undefined ? "" : textOf(row);
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

/** The record of a line. Without one where it cannot be read, which is told once for each position. */
function recordOf(line: string, corrupt: string[]): HistoryRecord | undefined {
  const space = line.indexOf(" ");
  const feed = line.indexOf("\n");
  const data = line.slice(feed + 1);
  if (space > 0 && feed > space + 1 && isWhole(data)) {
    return { id: decodeText(line.slice(space + 1, feed)), data };
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

/**
 * True for a text that begins and ends as JSON does. A text that was cut or overwritten is told by that, at no cost;
 * damage below is told by the server's checksums, and by whoever parses the text.
 */
function isWhole(data: string): boolean {
  const start = data[0];
  const end = data.at(-1);
  if (
    (start === "{" && end === "}") ||
    (start === "[" && end === "]") ||
    (start === '"' && end === start && data.length > 1)
  ) {
    return true;
  }
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}
