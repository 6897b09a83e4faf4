import { crc32 } from "node:zlib";
import { AgentFrameworkError, type HistoryKey, type HistoryRecord, isPlainObject } from "@agentfw/core";
import { PROVIDER } from "./errors.ts";

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

/** Sizes from the end of a line. */
export interface LineSizes {
  readonly lineBytes: number;
  readonly headBytes: number;
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
    throw new AgentFrameworkError(
      "unsupported",
      `the file has format version ${version}; this package reads ${VERSION}`,
      {
        provider: PROVIDER,
      },
    );
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
  const end = Buffer.from(`${END}${sizes}${headCheck(head, sizes)}${CLOSE}\n`);
  return Buffer.concat([TURN, head, RECORDS, ...parts, end]);
}

/** Reads the sizes at the end of a line, given without its line feed. They are not checked yet. */
export function decodeSizes(line: Buffer): LineSizes | undefined {
  const end = line.subarray(-END_BYTES).toString("latin1");
  if (end.length < END_BYTES || !end.startsWith(END) || !end.endsWith(CLOSE)) {
    return undefined;
  }
  const sizes = end.slice(END.length, END.length + 16);
  if (!/^[0-9a-f]{16}$/.test(sizes)) {
    return undefined;
  }
  return { lineBytes: Number.parseInt(sizes.slice(0, 8), 16), headBytes: Number.parseInt(sizes.slice(8), 16) };
}

/** Reads a head, given the start of its line up to the end of the head and the end of its line. */
export function decodeHead(start: Buffer, end: Buffer): TurnHead | undefined {
  const head = start.subarray(HEAD_OFFSET);
  const endText = end.subarray(-END_BYTES).toString("latin1");
  const sizes = endText.slice(END.length, END.length + 16);
  const check = endText.slice(END.length + 16, END.length + 24);
  if (!start.subarray(0, HEAD_OFFSET).equals(TURN) || check !== headCheck(head, sizes)) {
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
  const headBytes = headBytesOf(line);
  return headBytes === undefined ? undefined : decodeHead(line.subarray(0, HEAD_OFFSET + headBytes), line);
}

/** Reads a turn, given without its line feed. Undefined: the line is damaged. Records are checked one by one. */
export function decodeTurn(line: Buffer): Turn | undefined {
  const headBytes = headBytesOf(line);
  const head = headBytes === undefined ? undefined : decodeHead(line.subarray(0, HEAD_OFFSET + headBytes), line);
  if (headBytes === undefined || head === undefined) {
    return undefined;
  }
  const commas = Math.max(0, head.ids.length - 1);
  const recordBytes = head.bytes.reduce((sum, count) => sum + count, commas);
  if (MIN_TURN_BYTES + headBytes + recordBytes !== line.length) {
    return undefined;
  }
  return { ...head, line, recordsOffset: HEAD_OFFSET + headBytes + RECORDS.length };
}

function headBytesOf(line: Buffer): number | undefined {
  const sizes = decodeSizes(line);
  const fits =
    sizes !== undefined && sizes.lineBytes === line.length && MIN_TURN_BYTES + sizes.headBytes <= line.length;
  return fits ? sizes.headBytes : undefined;
}

/** The records of a turn in order; undefined stands for one whose bytes are damaged. */
export function decodeRecords(turn: Turn): readonly (HistoryRecord | undefined)[] {
  let offset = turn.recordsOffset;
  return turn.ids.map((id, index) => {
    const bytes = turn.line.subarray(offset, offset + (turn.bytes[index] ?? 0));
    offset += bytes.length + COMMA.length;
    const check = turn.checks.slice(index * 8, index * 8 + 8);
    return check === hex(crc32(bytes)) ? { id, data: bytes.toString("utf8") } : undefined;
  });
}

/** Tells two ends of a file apart that have the same length. `bytes` is what comes before the end. */
export function fingerprint(bytes: Buffer): string {
  return hex(crc32(bytes.subarray(-FINGERPRINT_BYTES)));
}

/** How much of the end a fingerprint is taken from; no line is shorter. */
export const FINGERPRINT_BYTES: number = 40;

function headCheck(head: Buffer, sizes: string): string {
  return hex(crc32(sizes, crc32(head)));
}

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
