import { crc32 } from "node:zlib";
import { type HistoryKey, type HistoryRecord, isPlainObject } from "@agentfw/core";
import { storeError } from "./errors.ts";

/**
 * A file is lines of JSON: one header, then one line for each turn. A line is committed by its line feed.
 *
 *     {"format":"agentfw-history","version":1,"generation":"…","owner":null,"source":"main","session":"s","replacedBytes":0,"check":"…"}
 *     {"turn":{"ids":["a","b"],"bytes":[12,34],"checks":"…"},"records":[{…},{…}],"end":"…"}
 *
 * Records are embedded as they came, so they are read back by position and not parsed. `checks` holds the CRC-32 of each
 * record. `end` has a fixed width: size of the line, size of the head, CRC-32 of the head and both sizes. From the end
 * of a line its start is known without reading what is between.
 */

const FORMAT = "agentfw-history";
const VERSION = 1;
const TURN = Buffer.from('{"turn":');
const RECORDS = Buffer.from(',"records":[');
const COMMA = Buffer.from(",");
const END = '],"end":"';
const CLOSE = '"}';
/** Bytes of `"end"` with its sizes and check, up to the closing brace. */
const END_BYTES = END.length + 24 + CLOSE.length;
const LINE_END = /^\],"end":"([0-9a-f]{16})([0-9a-f]{8})"\}$/;
/** No turn is shorter, whatever is in it. */
export const MIN_TURN_BYTES: number = TURN.length + RECORDS.length + END_BYTES;
/** Bytes before the head. */
export const HEAD_OFFSET: number = TURN.length;

/** The first line of a file. */
export interface ConversationHeader {
  /** Random; a new one for each life and after each `replace`, so that no version or cursor comes back. */
  readonly generation: string;
  readonly key: HistoryKey;
  /** Size of the line behind the header that remembers replaced ids; 0 when there is none. */
  readonly replacedBytes: number;
}

/** What is known of a turn without its records. */
export interface TurnHead {
  readonly ids: readonly string[];
  readonly bytes: readonly number[];
  readonly checks: string;
  /** Ids that `replace` removed; only in the line behind the header. */
  readonly replaced: readonly string[];
}

/** What the fixed end of a line tells: where it starts, where its records start, and a check on the head. */
export interface LineEnd {
  readonly lineBytes: number;
  readonly headBytes: number;
  readonly sizes: string;
  readonly check: number;
}

/** The header as a line, with its line feed. */
export function encodeHeader(header: ConversationHeader): Buffer {
  const { owner, source, session } = header.key;
  const { generation, replacedBytes } = header;
  const fields = { format: FORMAT, version: VERSION, generation, owner, source, session, replacedBytes };
  const text = JSON.stringify(fields).slice(0, -1);
  return Buffer.from(`${text},"check":"${hex(crc32(text))}"}\n`);
}

/**
 * Reads a header, given without its line feed. Undefined: it is not one, or it is damaged.
 *
 * @throws `unsupported` for a file of a later version, whatever else has changed in it.
 */
export function decodeHeader(line: Buffer): ConversationHeader | undefined {
  const value = parse(line);
  if (!isPlainObject(value) || value["format"] !== FORMAT) {
    return undefined;
  }
  const { version, generation, owner, source, session, replacedBytes, check } = value;
  if (typeof version === "number" && version > VERSION) {
    throw storeError("unsupported", `the file has format version ${version}; this package reads ${VERSION}`);
  }
  const checked = line.subarray(0, -`,"check":"00000000"}`.length);
  return version === VERSION &&
    check === hex(crc32(checked)) &&
    isText(generation) &&
    isText(source) &&
    isText(session) &&
    (owner === null || isText(owner)) &&
    isCount(replacedBytes)
    ? { generation, key: { owner, source, session }, replacedBytes }
    : undefined;
}

/** A turn as one line, with its line feed. */
export function encodeTurn(records: readonly HistoryRecord[], replaced?: readonly string[]): Buffer {
  const parts = records.map(({ data }) => Buffer.from(data));
  const head = Buffer.from(
    JSON.stringify({
      ids: records.map(({ id }) => id),
      bytes: parts.map(({ length }) => length),
      checks: parts.map((part) => hex(crc32(part))).join(""),
      // Left out where there are none.
      replaced: replaced?.length ? replaced : undefined,
    }),
  );
  const body = parts.flatMap((part, index) => (index === 0 ? [part] : [COMMA, part]));
  const bodyBytes = body.reduce((sum, { length }) => sum + length, 0);
  const sizes = hex(MIN_TURN_BYTES + head.length + bodyBytes) + hex(head.length);
  const end = Buffer.from(`${END}${sizes}${hex(crc32(sizes, crc32(head)))}${CLOSE}\n`);
  return Buffer.concat([TURN, head, RECORDS, ...body, end]);
}

/** Reads the end of a line, given without its line feed. What it says is not checked yet. */
export function decodeEnd(line: Buffer): LineEnd | undefined {
  const text = line.toString("latin1", Math.max(0, line.length - END_BYTES));
  const [, sizes = "", check = ""] = LINE_END.exec(text) ?? [];
  return sizes === ""
    ? undefined
    : { lineBytes: parseHex(sizes.slice(0, 8)), headBytes: parseHex(sizes.slice(8)), sizes, check: parseHex(check) };
}

/** Reads a head, given the line from its start to the end of the head, and the end of the line. */
export function decodeHead(start: Buffer, end: LineEnd): TurnHead | undefined {
  const head = start.subarray(HEAD_OFFSET);
  if (head.length !== end.headBytes || crc32(end.sizes, crc32(head)) !== end.check) {
    return undefined;
  }
  const value = parse(head);
  if (!isPlainObject(value)) {
    return undefined;
  }
  const { ids, bytes, checks, replaced = [] } = value;
  if (!isList(ids, isText) || !isList(bytes, isCount) || !isText(checks) || !isList(replaced, isText)) {
    return undefined;
  }
  if (bytes.length !== ids.length || checks.length !== ids.length * 8) {
    return undefined;
  }
  return { ids, bytes, checks, replaced };
}

/** The head of a whole line, given without its line feed. The records are not looked at. */
export function decodeLineHead(line: Buffer): TurnHead | undefined {
  const end = decodeEnd(line);
  return end?.lineBytes === line.length ? decodeHead(line.subarray(0, HEAD_OFFSET + end.headBytes), end) : undefined;
}

/** The ids of a line, given without its line feed, without verifying them. Undefined: it cannot be read. */
export function decodeIds(line: Buffer): readonly string[] | undefined {
  const check = line.length - CLOSE.length - 8;
  const headBytes = parseHex(line.toString("latin1", check - 8, check));
  const head = parse(line.subarray(HEAD_OFFSET, HEAD_OFFSET + headBytes));
  return isPlainObject(head) && isList(head["ids"], isText) ? head["ids"] : undefined;
}

/**
 * The records of a turn in order, given as its line without its line feed; undefined stands for one whose bytes are damaged,
 * and in place of all for a line that cannot be read.
 */
export function decodeRecords(line: Buffer): readonly (HistoryRecord | undefined)[] | undefined {
  const head = decodeLineHead(line);
  if (head === undefined) {
    return undefined;
  }
  const { ids, bytes, checks } = head;
  // Counted from the end, whose size is fixed.
  let offset = line.length - END_BYTES - bytes.reduce((sum, count) => sum + count, Math.max(0, ids.length - 1));
  return ids.map((id, index) => {
    const record = line.subarray(offset, offset + (bytes[index] ?? 0));
    offset += record.length + COMMA.length;
    return parseHex(checks.slice(index * 8, index * 8 + 8)) === crc32(record)
      ? { id, data: record.toString("utf8") }
      : undefined;
  });
}

/** Tells two ends of a file apart that have the same length. `bytes` is what comes before the end. */
export function fingerprint(bytes: Buffer): string {
  return hex(crc32(bytes.subarray(-FINGERPRINT_BYTES)));
}

/** How much of the end a fingerprint is taken from; no line is shorter. */
export const FINGERPRINT_BYTES: number = 40;

function hex(value: number): string {
  return value.toString(16).padStart(8, "0");
}

function parseHex(text: string): number {
  return Number.parseInt(text, 16);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    // Damage is an ordinary outcome here: the caller reports it with its position.
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isList<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isItem);
}
