import type { HistoryPage, HistoryRecord, ReadOptions } from "@agentfw/core";
import { ServerProblem } from "@agentfw/core/backend";
import type { PageCursor } from "./read-input.ts";
import { decodeElement, versionOf } from "./record-reading.ts";
import { corruptProblem, listOf, textOf } from "./replies.ts";

/** Elements of the list as they came. */
interface Slice {
  readonly version: string;
  readonly elements: readonly unknown[];
  /** How many elements are behind these. */
  readonly behind: number;
  /** The first record's element; nothing when it was not asked for or there is none. */
  readonly first: string;
}

/** What came back. @throws `conflict` when the cursor points at nothing any more. */
export function sliceOf(reply: unknown, options: ReadOptions, before: PageCursor | undefined): Slice {
  if (before === undefined && options.withFirst !== true) {
    const elements = listOf(reply);
    const newest = elements.at(-1);
    return { version: newest === undefined ? "" : versionOf(textOf(newest)), elements, behind: 0, first: "" };
  }
  if (reply === null) {
    throw new ServerProblem("conflict", "before: the record that the cursor points at is no longer stored");
  }
  const [version, first, behind, elements] = listOf(reply);
  return {
    version: textOf(version),
    first: textOf(first),
    behind: Number(behind),
    elements: listOf(elements),
  };
}

/** The page that a slice holds. @throws `corrupt`, unless the options say to skip. */
export function pageOf(slice: Slice, key: string, options: ReadOptions, before: PageCursor | undefined): HistoryPage {
  const { last, onCorrupt = "error", withFirst } = options;
  const { elements, version } = slice;
  // One more than was asked for was fetched, to see whether there is one.
  const start = last !== undefined && elements.length > last ? 1 : 0;
  const hasOlder = start === 1 && decodeElement(textOf(elements[0])) !== "placeholder";
  const { records, corrupt, oldest } = decodeFrom(start, slice, last === undefined);
  const { distance, skip, id } = oldest ?? anchorless(slice, start, before);
  let first: HistoryRecord | undefined;
  if (withFirst === true && slice.first !== "") {
    const element = decodeElement(slice.first);
    first = typeof element === "object" ? element : undefined;
    if (first === undefined && hasOlder) {
      corrupt.unshift("index 0");
    }
  }
  if (corrupt[0] !== undefined && onCorrupt === "error") {
    throw corruptProblem(corrupt[0], key);
  }
  return {
    records,
    version,
    ...(hasOlder ? { older: `${distance}:${skip}:${id}` } : {}),
    ...(first === undefined ? {} : { first }),
    ...(onCorrupt === "skip" ? { corrupt } : {}),
  };
}

/** The records of a slice from an element on, where the unreadable ones are, and the oldest record as a cursor. */
function decodeFrom(
  start: number,
  { elements, behind }: Slice,
  isWhole: boolean,
): { records: HistoryRecord[]; corrupt: string[]; oldest: PageCursor | undefined } {
  const records: HistoryRecord[] = [];
  const corrupt: string[] = [];
  let oldest: PageCursor | undefined;
  for (let at = start; at < elements.length; at += 1) {
    const text = textOf(elements[at]);
    const element = decodeElement(text);
    if (typeof element === "object") {
      oldest ??= { distance: elements.length - at + behind, skip: corrupt.length, id: text.split("|", 2)[1] ?? "" };
      records.push(element);
    } else if (element === "unreadable") {
      // As an argument of LINDEX: from the start where that was read, else from the end.
      corrupt.push(`index ${isWhole ? at : at - elements.length - behind}`);
    }
  }
  return { records, corrupt, oldest };
}

/** A cursor when no record of the page could be read: counted from the anchor before, or else from the end. */
function anchorless({ elements, behind }: Slice, start: number, before: PageCursor | undefined): PageCursor {
  const count = elements.length - start;
  if (before === undefined || before.id === "") {
    return { distance: behind + count, skip: 0, id: "" };
  }
  return { ...before, skip: before.skip + count };
}
