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

/** A turn's line without its line feed, and its head. */
export interface Turn extends TurnHead {
  readonly line: Buffer;
  readonly recordsOffset: number;
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
  if (version !== VERSION || check !== hex(crc32(checked)) || typeof generation !== "string") {
    return undefined;
  }
  if (typeof source !== "string" || typeof session !== "string" || !(owner === null || typeof owner === "string")) {
    return undefined;
  }
  return isCount(replacedBytes) ? { generation, key: { owner, source, session }, replacedBytes } : undefined;
}

/** A turn as one line, with its line feed. */
export function encodeTurn(records: readonly HistoryRecord[], replaced: readonly string[] = []): Buffer {
  const ids: string[] = [];
  const bytes: number[] = [];
  const parts: Buffer[] = [];
  let checks = "";
  for (const { id, data } of records) {
    const part = Buffer.from(data);
    if (parts.length > 0) {
      parts.push(COMMA);
    }
    parts.push(part);
    ids.push(id);
    bytes.push(part.length);
    checks += hex(crc32(part));
  }
  const head = Buffer.from(JSON.stringify({ ids, bytes, checks, ...(replaced.length > 0 ? { replaced } : {}) }));
  const recordBytes = parts.reduce((sum, part) => sum + part.length, 0);
  const sizes = hex(MIN_TURN_BYTES + head.length + recordBytes) + hex(head.length);
  const end = Buffer.from(`${END}${sizes}${hex(crc32(sizes, crc32(head)))}${CLOSE}\n`);
  return Buffer.concat([TURN, head, RECORDS, ...parts, end]);
}

/** Reads the end of a line, given without its line feed. What it says is not checked yet. */
export function decodeEnd(line: Buffer): LineEnd | undefined {
  const text = line.toString("latin1", Math.max(0, line.length - END_BYTES));
  const match = LINE_END.exec(text);
  if (match?.[1] === undefined || match[2] === undefined) {
    return undefined;
  }
  const sizes = match[1];
  return {
    lineBytes: Number.parseInt(sizes.slice(0, 8), 16),
    headBytes: Number.parseInt(sizes.slice(8), 16),
    sizes,
    check: Number.parseInt(match[2], 16),
  };
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
  const headBytes = Number.parseInt(line.toString("latin1", check - 8, check), 16);
  const head = parse(line.subarray(HEAD_OFFSET, HEAD_OFFSET + headBytes));
  return isPlainObject(head) && isList(head["ids"], isText) ? head["ids"] : undefined;
}

/** Reads a turn, given without its line feed. Undefined: the line is damaged. Records are checked one by one. */
export function decodeTurn(line: Buffer): Turn | undefined {
  const head = decodeLineHead(line);
  if (head === undefined) {
    return undefined;
  }
  const commas = Math.max(0, head.ids.length - 1);
  const recordBytes = head.bytes.reduce((sum, count) => sum + count, commas);
  return { ...head, line, recordsOffset: line.length - END_BYTES - recordBytes };
}

/** The records of a turn in order; undefined stands for one whose bytes are damaged. */
export function decodeRecords(turn: Turn): readonly (HistoryRecord | undefined)[] {
  let offset = turn.recordsOffset;
  return turn.ids.map((id, index) => {
    const bytes = turn.line.subarray(offset, offset + (turn.bytes[index] ?? 0));
    offset += bytes.length + COMMA.length;
    const check = Number.parseInt(turn.checks.slice(index * 8, index * 8 + 8), 16);
    return check === crc32(bytes) ? { id, data: bytes.toString("utf8") } : undefined;
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
