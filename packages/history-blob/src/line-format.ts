import type { HistoryRecord } from "@agentfw/core";
import { isWholeJson, parseObject } from "@agentfw/core/backend";

/**
 * A segment is lines of JSON, each committed by the block that it is in:
 *
 *     {"turn":7,"at":"…","write":"…","ids":["a","b"],"bytes":[12,34],"data":[{…},{…}]}
 *     {"part":0,"parts":3,"from":4711,"turn":8,"write":"…","text":"…"}
 *     {"seal":"next"}
 *
 * A turn is one line. Records are embedded as they came, so they are read back by position and not parsed. A turn above
 * one block is cut into parts, each a line and a block, whose texts make the turn's line; it is there when the last of
 * them is. A seal says that nothing follows in this segment.
 */

/** What the service takes in one block, in every version of it. */
const BLOCK_BYTES = 4 * 1024 * 1024;
/** Less by more than what stands around the text of a part. */
const PART_BYTES = BLOCK_BYTES - 512;

const DATA = ',"data":[';
const END = "]}";

/** What a turn is called. `write` is random, another one for each call, so that a call knows its own turn again. */
export interface TurnName {
  readonly turn: number;
  readonly write: string;
}

/** A turn's line, taken apart. Nobody has looked at what its records hold. */
export interface TurnLine extends TurnName {
  readonly records: readonly { readonly id: string; readonly data: Buffer }[];
}

/** A part of a turn that is larger than a block. */
export interface PartLine extends TurnName {
  readonly part: number;
  readonly parts: number;
  /** Where the line of its first part begins. */
  readonly from: number;
  readonly text: string;
}

/** How a segment ends: `next` is continued in the next segment, `cleared` was the end of the conversation. */
export interface SealLine {
  readonly seal: "next" | "cleared";
}

/**
 * The blocks of a turn that begins at `from`: one, or several where it is larger than that. `tear` is the line feed that the
 * line before it lacks, or empty.
 */
export function encodeTurn(
  { turn, write }: TurnName,
  records: readonly HistoryRecord[],
  from: number,
  tear: string,
): readonly Buffer[] {
  const ids = records.map(({ id }) => id);
  const bytes = records.map(({ data }) => Buffer.byteLength(data));
  const head = JSON.stringify({ turn, at: new Date(), write, ids, bytes }).slice(0, -1);
  const line = head + DATA + records.map(({ data }) => data).join(",") + END;
  const block = blockOf(line, tear);
  if (block.length <= BLOCK_BYTES) {
    return [block];
  }
  const texts = cutIntoParts(line);
  return texts.map((text, part) =>
    blockOf(JSON.stringify({ part, parts: texts.length, from, turn, write, text }), part === 0 ? tear : ""),
  );
}

/** The block of a seal. */
export function encodeSeal(seal: SealLine["seal"], tear: string): Buffer {
  return blockOf(JSON.stringify({ seal }), tear);
}

/** Reads a line, given without its line feed. Undefined: it cannot be read. */
export function decodeLine(line: Buffer): TurnLine | PartLine | SealLine | undefined {
  return decodeTurn(line) ?? decodeOther(line);
}

/** Reads a turn's line, given without its line feed. */
export function decodeTurn(line: Buffer): TurnLine | undefined {
  const at = line.indexOf(DATA);
  const { turn, write, ids, bytes } = parseObject(`${line.toString("utf8", 0, at)}}`) ?? {};
  if (!isCount(turn) || !isText(write) || !isList(ids, isText) || !isList(bytes, isCount)) {
    return undefined;
  }
  let offset = at + DATA.length;
  const records = ids.map((id, index) => {
    const start = offset;
    offset += (bytes[index] ?? 0) + 1;
    return { id, data: line.subarray(start, offset - 1) };
  });
  const isWhole = ids.length > 0 && ids.length === bytes.length && line.toString("utf8", offset - 1) === END;
  return isWhole ? { turn, write, records } : undefined;
}

/** The records of a turn in order; undefined stands for one that was cut or overwritten. */
export function decodeRecords({ records }: TurnLine): readonly (HistoryRecord | undefined)[] {
  return records.map(({ id, data }) => {
    const text = data.toString();
    return isWholeJson(text) ? { id, data: text } : undefined;
  });
}

function blockOf(line: string, tear: string): Buffer {
  return Buffer.from(`${tear}${line}\n`);
}

/** The texts of the parts of a line, in an order and number that depend on nothing but the line. */
function cutIntoParts(line: string): string[] {
  const parts: string[] = [];
  for (let start = 0; start < line.length; ) {
    let end = start + PART_BYTES;
    while (Buffer.byteLength(JSON.stringify(line.slice(start, end))) > PART_BYTES) {
      end = start + Math.floor((end - start) * 0.75);
    }
    parts.push(line.slice(start, end));
    start = end;
  }
  return parts;
}

function decodeOther(line: Buffer): PartLine | SealLine | undefined {
  const { part, parts, from, turn, write, text, seal } = parseObject(line.toString()) ?? {};
  if (seal === "next" || seal === "cleared") {
    return { seal };
  }
  const isPart = isCount(part) && isCount(parts) && part < parts && isCount(from) && isCount(turn);
  return isPart && isText(write) && isText(text) ? { part, parts, from, turn, write, text } : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** True for a whole number that counts something. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isList<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isItem);
}
