import { type HistoryRecord, isPlainObject } from "@agentfw/core";

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
export const BLOCK_BYTES: number = 4 * 1024 * 1024;

const DATA = ',"data":[';
/** What every line ends with. */
export const LINE_FEED = 10;

/** How a segment ends: `next` is continued in the next segment, `cleared` was the end of the conversation. */
export type Seal = "next" | "cleared";

/** What a turn is called. `write` is random, another one for each call, so that a call knows its own turn again. */
export interface TurnName {
  readonly turn: number;
  readonly write: string;
}

/** A turn's line, taken apart. `line` goes without its line feed. */
export interface TurnLine extends TurnName {
  readonly ids: readonly string[];
  readonly bytes: readonly number[];
  readonly line: Buffer;
  readonly dataOffset: number;
}

/** A part of a turn that is larger than a block. */
export interface PartLine extends TurnName {
  readonly part: number;
  readonly parts: number;
  /** Where the line of its first part begins. */
  readonly from: number;
  readonly text: string;
}

/** What one line is. `undefined` stands for one that cannot be read. */
export type Line =
  | { readonly kind: "turn"; readonly turn: TurnLine }
  | { readonly kind: "part"; readonly part: PartLine }
  | { readonly kind: "seal"; readonly seal: Seal }
  | undefined;

/** A turn as one line, with its line feed. */
export function encodeTurn({ turn, write }: TurnName, records: readonly HistoryRecord[], at: Date): Buffer {
  const ids = records.map(({ id }) => id);
  const data = records.map((record) => Buffer.from(record.data));
  const bytes = data.map(({ length }) => length);
  const head = JSON.stringify({ turn, at: at.toISOString(), write, ids, bytes }).slice(0, -1);
  const pieces: Buffer[] = [Buffer.from(head + DATA)];
  for (const [index, one] of data.entries()) {
    if (index > 0) {
      pieces.push(COMMA);
    }
    pieces.push(one);
  }
  pieces.push(TURN_END);
  return Buffer.concat(pieces);
}

/** A seal as one line. */
export function encodeSeal(seal: Seal): Buffer {
  return Buffer.from(`${JSON.stringify({ seal })}\n`);
}

/** The texts of the parts of a line, in an order and number that depend on nothing but the line. */
export function cutIntoParts(line: Buffer): string[] {
  const text = line.toString("utf8", 0, line.length - 1);
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + BLOCK_BYTES - PART_HEAD_BYTES);
    while (Buffer.byteLength(JSON.stringify(text.slice(start, end))) > BLOCK_BYTES - PART_HEAD_BYTES) {
      end = start + Math.floor((end - start) * 0.75);
    }
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

/** A part as one line, which fits into a block. */
export function encodePart({ part, parts, from, turn, write, text }: PartLine): Buffer {
  return Buffer.from(`${JSON.stringify({ part, parts, from, turn, write, text })}\n`);
}

/** Reads a line, given without its line feed. */
export function decodeLine(line: Buffer): Line {
  if (line.subarray(0, TURN_START.length).equals(TURN_START)) {
    const turn = decodeTurn(line);
    return turn === undefined ? undefined : { kind: "turn", turn };
  }
  const value = parse(line.toString("utf8"));
  if (!isPlainObject(value)) {
    return undefined;
  }
  const { seal } = value;
  if (seal === "next" || seal === "cleared") {
    return { kind: "seal", seal };
  }
  const part = partOf(value);
  return part === undefined ? undefined : { kind: "part", part };
}

/** Reads a turn's line, given without its line feed. The records are not looked at. */
export function decodeTurn(line: Buffer): TurnLine | undefined {
  const at = line.indexOf(DATA);
  const head = at < 0 ? undefined : parse(`${line.toString("utf8", 0, at)}}`);
  if (!isPlainObject(head)) {
    return undefined;
  }
  const { turn, write, ids, bytes } = head;
  if (!isCount(turn) || typeof write !== "string" || !isList(ids, isText) || !isList(bytes, isCount)) {
    return undefined;
  }
  const dataOffset = at + DATA.length;
  const dataBytes = bytes.reduce((sum, count) => sum + count, Math.max(0, bytes.length - 1));
  const isWholeLine = dataOffset + dataBytes + LINE_END.length === line.length && line.subarray(-2).equals(LINE_END);
  return isWholeLine && ids.length === bytes.length && ids.length > 0
    ? { turn, write, ids, bytes, line, dataOffset }
    : undefined;
}

/** The records of a turn in order; undefined stands for one that was cut or overwritten. */
export function decodeRecords({ ids, bytes, line, dataOffset }: TurnLine): readonly (HistoryRecord | undefined)[] {
  let offset = dataOffset;
  return ids.map((id, index) => {
    const end = offset + (bytes[index] ?? 0);
    const data = line.toString("utf8", offset, end);
    offset = end + 1;
    return isWhole(data) ? { id, data } : undefined;
  });
}

/** The bytes of a line up to its line feed, from `start`. Undefined: it does not end within `bytes`. */
export function lineFrom(bytes: Buffer, start: number): Buffer | undefined {
  const end = bytes.indexOf(LINE_FEED, start);
  return end < 0 ? undefined : bytes.subarray(start, end);
}

const TURN_START = Buffer.from('{"turn":');
const COMMA = Buffer.from(",");
const LINE_END = Buffer.from("]}");
const TURN_END = Buffer.from("]}\n");
/** More than everything in a part's line besides its text. */
const PART_HEAD_BYTES = 512;

function partOf(value: Record<string, unknown>): PartLine | undefined {
  const { part, parts, from, turn, write, text } = value;
  const isPart = isCount(part) && isCount(parts) && part < parts && isCount(from) && isCount(turn);
  return isPart && typeof write === "string" && typeof text === "string"
    ? { part, parts, from, turn, write, text }
    : undefined;
}

/**
 * True for a text that begins and ends as JSON does. A text that was cut or overwritten is told by that, at no cost;
 * damage below is told by the service's own checks, and by whoever parses the text.
 */
function isWhole(data: string): boolean {
  const ends = `${data[0]}${data.at(-1)}`;
  if (ends === "{}" || ends === "[]" || (ends === '""' && data.length > 1)) {
    return true;
  }
  return parse(data) !== undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Damage is an ordinary outcome here: the caller reports it with its position.
    return undefined;
  }
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
