import { createHash } from "node:crypto";
import type { HistoryKey } from "@agentfw/core";
import { failure } from "./errors.ts";

/**
 * A conversation's blobs are `<prefix>/<owner>/<source>/<session>/s<newest first>-<number>.jsonl`. Each part is readable
 * where it is plain; a character that is not becomes `=` and its UTF-16 unit in four hexadecimal digits. A part that
 * would be longer than a quarter of what a name can hold is `~` and its SHA-256.
 */

const LONGEST_PART = 240;
const UNOWNED = "~unowned";
const EMPTY = "=";
/** A dot may neither begin nor end a part: tools and clients take such names for something else. */
const NOT_PLAIN = /[^A-Za-z0-9._@+-]|^\.|\.$/g;
const ESCAPED = /=([0-9a-f]{4})/g;
/** Sorts names so that the newest is the first one that a listing gives. */
const HIGHEST_SEGMENT = 999_999_999;
const SEGMENT_DIGITS = 9;
const SEGMENT_NAME = /^s(\d{9})-(\d{1,9})\.jsonl$/;
/** What a blob's metadata can hold besides what the store itself notes there. */
const MOST_NAME_BYTES = 5_000;

/** Where a conversation's blobs are. */
export interface ConversationPlace {
  /** Ends with a slash. */
  readonly directory: string;
  /** The key as metadata, where the directory does not tell it. */
  readonly names: string | undefined;
}

/**
 * The place of a conversation, different for any two keys.
 *
 * @throws `too_large` for names that no metadata can hold, when they must be found again by `list`.
 */
export function conversationPlace(prefix: string, key: HistoryKey, isListed: boolean): ConversationPlace {
  const parts = [ownerPart(key.owner), encodePart(key.source), encodePart(key.session)];
  const directory = `${prefix}/${parts.join("/")}/`;
  const isTold = parts.every((part) => part === UNOWNED || !part.startsWith("~"));
  if (isTold || !isListed) {
    return { directory, names: undefined };
  }
  const names = Buffer.from(JSON.stringify([key.owner, key.source, key.session])).toString("base64");
  if (names.length > MOST_NAME_BYTES) {
    throw failure("too_large", "key: owner, source and session are too long to be listed");
  }
  return { directory, names };
}

/** What the names of all blobs of an owner, and with a source of that source, begin with. */
export function ownerDirectory(prefix: string, owner: string | null, source?: string): string {
  const directory = `${prefix}/${ownerPart(owner)}/`;
  return source === undefined ? directory : `${directory}${encodePart(source)}/`;
}

/** The name of a segment's blob. */
export function segmentName(directory: string, segment: number): string {
  return `${directory}${segmentPrefix}${String(HIGHEST_SEGMENT - segment).padStart(SEGMENT_DIGITS, "0")}-${segment}.jsonl`;
}

/** What the names of segments begin with, and nothing else that is of any concern. */
export const segmentPrefix = "s";

/** The number of a segment, from the last part of its blob's name. Undefined: it is no segment. */
export function segmentNumber(file: string): number | undefined {
  const match = SEGMENT_NAME.exec(file);
  const segment = Number(match?.[2]);
  return match !== null && Number(match[1]) === HIGHEST_SEGMENT - segment ? segment : undefined;
}

/** A blob's name taken apart. */
export interface BlobPlace {
  readonly directory: string;
  readonly segment: number;
  /** Undefined where the name holds a hash. */
  readonly key: HistoryKey | undefined;
}

/** Takes the name of a segment's blob apart. Undefined: it is none of the store's. */
export function parseBlobName(prefix: string, name: string): BlobPlace | undefined {
  const [owner, source, session, file, ...more] = name.slice(prefix.length + 1).split("/");
  if (owner === undefined || source === undefined || session === undefined || file === undefined || more.length > 0) {
    return undefined;
  }
  const segment = segmentNumber(file);
  const directory = name.slice(0, -file.length);
  return segment === undefined ? undefined : { directory, segment, key: keyOf(owner, source, session) };
}

/** The key that metadata holds. Undefined: none that can be read. */
export function parseNames(names: string): HistoryKey | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(names, "base64").toString("utf8"));
    const [owner, source, session]: unknown[] = Array.isArray(value) ? value : [];
    const isOwner = owner === null || typeof owner === "string";
    return isOwner && typeof source === "string" && typeof session === "string"
      ? { owner, source, session }
      : undefined;
  } catch {
    // Whatever it is, no key of ours.
    return undefined;
  }
}

function keyOf(owner: string, source: string, session: string): HistoryKey | undefined {
  const [decodedSource, decodedSession] = [source, session].map(decodePart);
  const decodedOwner = owner === UNOWNED ? null : decodePart(owner);
  return decodedOwner === undefined || decodedSource === undefined || decodedSession === undefined
    ? undefined
    : { owner: decodedOwner, source: decodedSource, session: decodedSession };
}

function ownerPart(owner: string | null): string {
  return owner === null ? UNOWNED : encodePart(owner);
}

function encodePart(name: string): string {
  if (name === "") {
    return EMPTY;
  }
  const escaped =
    name.length > LONGEST_PART
      ? undefined
      : name.replace(NOT_PLAIN, (unit) => `=${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (escaped !== undefined && escaped.length <= LONGEST_PART) {
    return escaped;
  }
  // JSON text tells lone surrogates apart, which UTF-8 alone does not.
  return `~${createHash("sha256").update(JSON.stringify(name)).digest("hex")}`;
}

function decodePart(part: string): string | undefined {
  if (part.startsWith("~")) {
    return undefined;
  }
  return part === EMPTY
    ? ""
    : part.replace(ESCAPED, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)));
}
