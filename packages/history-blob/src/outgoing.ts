import type { HistoryRecord } from "@agentfw/core";
import { BLOCK_BYTES, cutIntoParts, encodePart, encodeTurn, type TurnName } from "./line-format.ts";

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
  readonly turnName: TurnName;
  readonly ids: readonly string[];
  /** Where it begins in the segment. */
  readonly start: number;
  /** How much it adds to the segment, and in how many blocks. */
  readonly bytes: number;
  readonly blocks: readonly Buffer[];
}

const LINE_FEED = Buffer.from("\n");

/** The next turn for an end: one block, or several above the size of one. */
export function outgoing(end: ReadEnd, write: string, records: readonly HistoryRecord[]): Outgoing {
  const turnName = { turn: end.turn + 1, write };
  const start = end.size + (end.isTorn ? LINE_FEED.length : 0);
  const line = encodeTurn(turnName, records, new Date());
  const lines = line.length <= BLOCK_BYTES - LINE_FEED.length ? [line] : partsOf(line, turnName, start);
  const blocks = lines.map((one, index) => (index === 0 ? withoutTear(end, one) : one));
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
  return { turnName, ids: records.map(({ id }) => id), start, bytes, blocks };
}

/** A block for an end that may lack its line feed, which then comes first. */
export function withoutTear({ isTorn }: ReadEnd, line: Buffer): Buffer {
  return isTorn ? Buffer.concat([LINE_FEED, line]) : line;
}

function partsOf(line: Buffer, turnName: TurnName, from: number): Buffer[] {
  const texts = cutIntoParts(line);
  return texts.map((text, part) => encodePart({ part, parts: texts.length, from, ...turnName, text }));
}
