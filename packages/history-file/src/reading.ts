import type { HistoryPage, HistoryRecord, ReadOptions } from "@agentfw/core";
import { BackwardLines, type StoredLine } from "./backward-lines.ts";
import { conflictError, corruptError } from "./errors.ts";
import { readLineAt } from "./header.ts";
import { decodeRecords } from "./line-format.ts";
import type { FoundFile, OpenFile, Place } from "./open-files.ts";
import type { TornTails } from "./torn-tails.ts";

/** The newest twenty messages of an ordinary conversation fit into one such read. */
const BLOCK_BYTES = 16 * 1024;
/** Enough for the version of a file, unless its newest line is torn. */
const END_BYTES = 512;

/** Where a page ends: behind the line at `end`, of which only the first `take` records count. */
interface Cursor {
  readonly end: number;
  /** Infinity: all of them. */
  readonly take: number;
}

/** The version of a file that ends at `end`; empty when it holds no conversation: no committed line behind its header. */
export function versionOf(file: OpenFile, end: number, fingerprint: string): string {
  return end > file.headerEnd ? versionText(file.header.generation, end, fingerprint) : "";
}

/** The version of a conversation. */
export function versionText(generation: string, end: number, fingerprint: string): string {
  return `${generation}.${end}.${fingerprint}`;
}

/**
 * Reads a page from the end, or from a cursor, at the cost of the page. Undefined: the file holds no turn, so there is no conversation.
 *
 * @throws `corrupt` for the first damaged record unless they are to be skipped; `conflict` for a cursor of an earlier
 * life of the conversation or of the time before a `replace`.
 */
export async function readPage(
  { file, size }: FoundFile,
  place: Place,
  options: ReadOptions,
  tornTails: TornTails,
): Promise<HistoryPage | undefined> {
  const { before, withFirst, onCorrupt } = options;
  const tail = await linesUpTo(file, size, before === undefined ? BLOCK_BYTES : END_BYTES);
  const end = tail.position;
  if (end < size) {
    await tornTails.read(place, end, size - end);
  }
  const version = versionOf(file, end, await tail.fingerprint());
  if (version === "") {
    return undefined;
  }
  const cursor = before === undefined ? { end, take: Number.POSITIVE_INFINITY } : parseCursor(before, file, end);
  const lines = before === undefined ? tail : await linesUpTo(file, cursor.end, BLOCK_BYTES);
  if (lines.position !== cursor.end) {
    throw staleCursor();
  }
  const page = new Page(place, options);
  const older = await page.fill(lines, cursor.take);
  const first = withFirst ? await page.first(file, end) : undefined;
  return {
    records: page.records.reverse(),
    version,
    ...(older === undefined ? {} : { older: formatCursor(file, older) }),
    ...(first === undefined ? {} : { first }),
    ...(onCorrupt === "skip" ? { corrupt: page.corrupt.reverse() } : {}),
  };
}

class Page {
  /** The newest first. */
  readonly records: HistoryRecord[] = [];
  /** Positions, the newest first. */
  readonly corrupt: string[] = [];
  readonly #place: Place;
  readonly #last: number;
  readonly #skip: boolean;

  constructor(place: Place, { last = Number.POSITIVE_INFINITY, onCorrupt }: ReadOptions) {
    this.#place = place;
    this.#last = last;
    this.#skip = onCorrupt === "skip";
  }

  /** Takes records until the page is full. Gives where the next page ends, if there is more. */
  async fill(lines: BackwardLines, take: number): Promise<Cursor | undefined> {
    for (let limit = take; this.records.length < this.#last; limit = Number.POSITIVE_INFINITY) {
      const line = await lines.previous();
      if (line === undefined) {
        return undefined;
      }
      const left = this.#addTurn(line, limit);
      if (left > 0) {
        return { end: line.end, take: left };
      }
    }
    return lines.isAtFloor ? undefined : { end: lines.position, take: Number.POSITIVE_INFINITY };
  }

  /** The first readable record of the file. */
  async first(file: OpenFile, end: number): Promise<HistoryRecord | undefined> {
    for (let start = file.bodyStart; start < end; ) {
      const line = await readLineAt(file.descriptor, start, end);
      const record = line && decodeRecords(line)?.find((one) => one !== undefined);
      if (record !== undefined) {
        return record;
      }
      this.#note(start);
      start += (line?.length ?? 0) + 1;
    }
    return undefined;
  }

  /** Takes records of a turn, the newest first, from the first `limit` ones. Gives how many of them found no room. */
  #addTurn(line: StoredLine, limit: number): number {
    const records = decodeRecords(line.bytes);
    if (records === undefined) {
      this.#note(line.start);
      return 0;
    }
    if (limit > records.length && limit !== Number.POSITIVE_INFINITY) {
      throw staleCursor();
    }
    for (let left = Math.min(limit, records.length); left > 0; left -= 1) {
      if (this.records.length === this.#last) {
        return left;
      }
      const record = records[left - 1];
      if (record === undefined) {
        this.#note(line.start, left - 1);
      } else {
        this.records.push(record);
      }
    }
    return 0;
  }

  #note(start: number, index?: number): void {
    const position = index === undefined ? `byte ${start}` : `byte ${start}, record ${index}`;
    if (!this.#skip) {
      throw corruptError("a stored record cannot be read", position, this.#place.file);
    }
    if (!this.corrupt.includes(position)) {
      this.corrupt.push(position);
    }
  }
}

function linesUpTo(file: OpenFile, end: number, blockBytes: number): Promise<BackwardLines> {
  return BackwardLines.fromLast(file.descriptor, file.bodyStart, end, blockBytes);
}

function formatCursor(file: OpenFile, { end, take }: Cursor): string {
  return `${file.header.generation}.${end}.${Number.isFinite(take) ? take : "all"}`;
}

/** Appends leave every cursor valid, because nothing before the end ever moves; another generation is another file. */
function parseCursor(text: string, file: OpenFile, fileEnd: number): Cursor {
  const [, generation, position, take] = /^([0-9a-f]+)\.(\d{1,15})\.(all|\d{1,9})$/.exec(text) ?? [];
  const end = Number(position);
  if (generation !== file.header.generation || end <= file.bodyStart || end > fileEnd) {
    throw staleCursor();
  }
  return { end, take: take === "all" ? Number.POSITIVE_INFINITY : Number(take) };
}

function staleCursor(): Error {
  return conflictError("before: the cursor is not one of the conversation as it is now");
}

/** What `read` gives for a conversation that is not there. A cursor cannot belong to it. */
export function absentPage(options: ReadOptions): HistoryPage {
  if (options.before !== undefined) {
    throw staleCursor();
  }
  return { records: [], version: "" };
}
