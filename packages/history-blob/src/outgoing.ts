import type { HistoryRecord } from "@agentfw/core";
import { type Author, BLOCK_BYTES, cutIntoParts, encodePart, encodeTurn } from "./line-format.ts";

/** The end of a segment: what a write is conditional on. */
export interface End {
  readonly etag: string;
  readonly size: number;
  readonly blocks: number;
}

/** An end as it was read. One whose last line has no line feed gets it with the next block. */
export interface ReadEnd extends End {
  readonly turn: number;
  readonly isTorn: boolean;
}

/** A turn on its way to one end of a segment. */
export interface Outgoing {
  readonly author: Author;
  readonly ids: readonly string[];
  /** Where it begins in the segment. */
  readonly start: number;
  /** How much it adds to the segment, and in how many blocks. */
  readonly bytes: number;
  readonly blocks: readonly Buffer[];
}

const LINE_FEED = Buffer.from("\n");

/** The next turn for an end: one block, or several above the size of one. */
export function outgoing(end: ReadEnd, writer: string, records: readonly HistoryRecord[]): Outgoing {
  const author = { turn: end.turn + 1, writer };
  const start = end.size + (end.isTorn ? LINE_FEED.length : 0);
  const line = encodeTurn(author, records, new Date());
  const lines = line.length <= BLOCK_BYTES - LINE_FEED.length ? [line] : partsOf(line, author, start);
  const blocks = lines.map((one, index) => (index === 0 ? withoutTear(end, one) : one));
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
  return { author, ids: records.map(({ id }) => id), start, bytes, blocks };
}

/** A block for an end that may lack its line feed, which then comes first. */
export function withoutTear({ isTorn }: ReadEnd, line: Buffer): Buffer {
  return isTorn ? Buffer.concat([LINE_FEED, line]) : line;
}

function partsOf(line: Buffer, author: Author, from: number): Buffer[] {
  const texts = cutIntoParts(line);
  return texts.map((text, part) => encodePart({ part, parts: texts.length, from, ...author, text }));
}
