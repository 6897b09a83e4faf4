import { configurationError, type HistoryPage, type HistoryRecord, type ReadOptions } from "@agentfw/core";
import type { Row } from "./connection.ts";
import { conflictError, corruptError, unexpectedAnswer } from "./errors.ts";
import { decodeText } from "./keys.ts";

/** Takes a cursor apart: the position of a page's oldest record. @throws `configuration` for what was never one. */
export function parseCursor(text: string): string {
  if (!/^[1-9]\d{0,17}$/.test(text)) {
    throw configurationError("before", "must be a cursor that read gave");
  }
  return text;
}

/** A record as it is stored; without one where it cannot be read. */
interface Stored {
  readonly position: string;
  readonly record: HistoryRecord | undefined;
}

/**
 * The page that the read function's rows hold. The options have been checked.
 *
 * @throws `corrupt`, unless the options say to skip; `conflict` for a cursor whose record is gone.
 */
export function pageOf(rows: readonly Row[], options: ReadOptions): HistoryPage {
  const { last, before, withFirst, onCorrupt = "error" } = options;
  const [version = "", ...lines] = rows.map(textOf);
  if (before !== undefined && (version === "" || lines[0] === "gone")) {
    throw conflictError("before: the record that the cursor points at is no longer stored", version);
  }
  const first = withFirst === true ? firstOf(lines) : undefined;
  const hasOlder = last !== undefined && lines.length > last;
  const page = lines.slice(0, last).reverse().map(storedOf);
  const corrupt = page.filter(isUnreadable).map(({ position }) => position);
  if (first !== undefined && isUnreadable(first) && !corrupt.includes(first.position)) {
    corrupt.unshift(first.position);
  }
  if (corrupt[0] !== undefined && onCorrupt === "error") {
    throw corruptError(`seq ${corrupt[0]}`);
  }
  return {
    records: page.flatMap(({ record }) => record ?? []),
    version,
    ...(hasOlder && page[0] !== undefined ? { older: page[0].position } : {}),
    ...(first?.record === undefined ? {} : { first: first.record }),
    ...(onCorrupt === "skip" ? { corrupt: corrupt.map((position) => `seq ${position}`) } : {}),
  };
}

function textOf([text]: Row): string {
  if (typeof text !== "string") {
    throw unexpectedAnswer("read");
  }
  return text;
}

/** Takes the first record of the conversation out of the lines, if it is there. */
function firstOf(lines: string[]): Stored | undefined {
  const prefix = "first ";
  return lines[0]?.startsWith(prefix) ? storedOf(lines.shift()?.slice(prefix.length) ?? "") : undefined;
}

function storedOf(line: string): Stored {
  const space = line.indexOf(" ");
  const feed = line.indexOf("\n");
  const position = line.slice(0, Math.max(0, space));
  const data = line.slice(feed + 1);
  const isRecord = space > 0 && feed > space + 1 && isWhole(data);
  return { position, record: isRecord ? { id: decodeText(line.slice(space + 1, feed)), data } : undefined };
}

function isUnreadable({ record }: Stored): boolean {
  return record === undefined;
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
