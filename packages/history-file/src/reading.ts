import type { HistoryPage, HistoryRecord, ReadOptions } from "@agentfw/core";
import { BackwardLines, type StoredLine } from "./backward-lines.ts";
import { conflictError, corruptError } from "./errors.ts";
import { readLineAt } from "./header.ts";
import { decodeRecords, decodeTurn } from "./line-format.ts";
import type { FoundFile, OpenFile, Place } from "./open-files.ts";

/** The newest twenty messages of an ordinary conversation fit into one such read. */
const BLOCK_BYTES = 16 * 1024;
/** Enough for the version of a file, unless its newest line is torn. */
const END_BYTES = 512;

/** A page, and what only the caller can report. */
export interface ReadResult {
  /** Undefined: the file holds no turn, so there is no conversation. */
  readonly page: HistoryPage | undefined;
  /** Bytes behind the last committed line. */
  readonly tornBytes: number;
  /** Where they start. */
  readonly end: number;
}

/** Where a page before another ends: behind the line at `end`, of which only the first `take` records count. */
interface Cursor {
  readonly end: number;
  /** Undefined: all of them. */
  readonly take: number | undefined;
}

/** The version of a file that ends at `end`; empty when it holds no conversation. */
export function versionOf(file: OpenFile, end: number, fingerprint: string): string {
  return isConversation(file, end) ? `${file.header.generation}.${end}.${fingerprint}` : "";
}

/** True when the file holds at least one committed line behind its header. */
function isConversation(file: OpenFile, end: number): boolean {
  return end > file.headerEnd;
}

/**
 * Reads a page from the end, or from a cursor, at the cost of the page.
 *
 * @throws `corrupt` for the first damaged record unless they are to be skipped; `conflict` for a cursor of an earlier
 * life of the conversation or of the time before a `replace`.
 */
export async function readPage(found: FoundFile, place: Place, options: ReadOptions): Promise<ReadResult> {
  const { file, size } = found;
  const tail = await BackwardLines.fromLast(
    file.descriptor,
    file.bodyStart,
    size,
    options.before === undefined ? BLOCK_BYTES : END_BYTES,
  );
  const end = tail.position;
  const tornBytes = size - end;
  if (!isConversation(file, end)) {
    return { page: undefined, tornBytes, end };
  }
  const version = versionOf(file, end, await tail.fingerprint());
  const cursor = options.before === undefined ? undefined : parseCursor(options.before, file, end);
  const lines = cursor === undefined ? tail : await linesBefore(file, cursor);
  const page = new Page(place, options);
  const older = await page.fill(lines, cursor?.take);
  const first = options.withFirst ? await page.first(file, end) : undefined;
  const more = older ?? (lines.position > file.bodyStart ? { end: lines.position, take: undefined } : undefined);
  return {
    page: {
      records: page.records.reverse(),
      version,
      ...(more === undefined ? {} : { older: formatCursor(file, more) }),
      ...(first === undefined ? {} : { first }),
      ...(options.onCorrupt === "skip" ? { corrupt: page.corrupt.reverse() } : {}),
    },
    tornBytes,
    end,
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

  constructor(place: Place, options: ReadOptions) {
    this.#place = place;
    this.#last = options.last ?? Number.POSITIVE_INFINITY;
    this.#skip = options.onCorrupt === "skip";
  }

  /** Takes records until the page is full. Gives a cursor when it was cut inside a turn. */
  async fill(lines: BackwardLines, take: number | undefined): Promise<Cursor | undefined> {
    let limit = take;
    while (this.records.length < this.#last) {
      const line = await lines.previous();
      if (line === undefined) {
        return undefined;
      }
      const left = this.#addTurn(line, limit);
      limit = undefined;
      if (left > 0) {
        return { end: line.end, take: left };
      }
    }
    return undefined;
  }

  /** The first readable record of the file. */
  async first(file: OpenFile, end: number): Promise<HistoryRecord | undefined> {
    for (let start = file.bodyStart; start < end; ) {
      const line = await readLineAt(file.descriptor, start, end);
      const turn = line && decodeTurn(line);
      const record = turn && decodeRecords(turn).find((one) => one !== undefined);
      if (record !== undefined) {
        return record;
      }
      this.#note(start);
      start += (line?.length ?? 0) + 1;
    }
    return undefined;
  }

  /** Gives how many records of the turn found no room. */
  #addTurn(line: StoredLine, limit: number | undefined): number {
    const turn = decodeTurn(line.bytes);
    if (turn === undefined) {
      this.#note(line.start);
      return 0;
    }
    const records = decodeRecords(turn);
    if (limit !== undefined && limit > records.length) {
      throw staleCursor();
    }
    for (let index = (limit ?? records.length) - 1; index >= 0; index -= 1) {
      if (this.records.length === this.#last) {
        return index + 1;
      }
      const record = records[index];
      if (record === undefined) {
        this.#note(line.start, index);
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

function formatCursor(file: OpenFile, { end, take }: Cursor): string {
  return `${file.header.generation}.${end}.${take ?? "all"}`;
}

/** Appends leave every cursor valid, because nothing before the end ever moves; another generation is another file. */
function parseCursor(text: string, file: OpenFile, fileEnd: number): Cursor {
  const match = /^([0-9a-f]+)\.(\d{1,15})\.(all|\d{1,9})$/.exec(text);
  const end = Number(match?.[2]);
  if (match === null || match[1] !== file.header.generation || end <= file.bodyStart || end > fileEnd) {
    throw staleCursor();
  }
  return { end, take: match[3] === "all" ? undefined : Number(match[3]) };
}

async function linesBefore(file: OpenFile, cursor: Cursor): Promise<BackwardLines> {
  const lines = await BackwardLines.fromLast(file.descriptor, file.bodyStart, cursor.end, BLOCK_BYTES);
  if (lines.position !== cursor.end) {
    throw staleCursor();
  }
  return lines;
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
