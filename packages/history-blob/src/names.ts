import type { HistoryKey } from "@agentfw/core";
import { EMPTY, UNOWNED } from "./places.ts";

/** Sorts names so that the newest is the first one that a listing gives. */
const HIGHEST_SEGMENT = 999_999_999;
const SEGMENT_NAME = /^s(\d{9})-(\d{1,9})\.jsonl$/;
const ESCAPED = /=([0-9a-f]{4})/g;

/** What the names of segments begin with, and nothing else that is of any concern. */
export const SEGMENT_PREFIX = "s";

/** The name of a segment's blob. */
export function segmentName(directory: string, segment: number): string {
  return `${directory}${SEGMENT_PREFIX}${String(HIGHEST_SEGMENT - segment).padStart(9, "0")}-${segment}.jsonl`;
}

/** The number of a segment, from the last part of its blob's name. Undefined: it is no segment. */
export function segmentNumber(file: string): number | undefined {
  const [, rest, number] = SEGMENT_NAME.exec(file) ?? [];
  return Number(rest) + Number(number) === HIGHEST_SEGMENT ? Number(number) : undefined;
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
  const [owner = "", source = "", session = "", file = "", ...more] = name.slice(prefix.length + 1).split("/");
  const segment = more.length === 0 ? segmentNumber(file) : undefined;
  const directory = name.slice(0, -file.length);
  return segment === undefined
    ? undefined
    : { directory, segment, key: keyOf([owner, source, session].map(decodePart)) };
}

/** The key that metadata holds. Undefined: none that can be read. */
export function parseNames(names: string): HistoryKey | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(names, "base64").toString());
    return Array.isArray(value) ? keyOf(value) : undefined;
  } catch {
    // Whatever it is, no key of ours.
    return undefined;
  }
}

function keyOf([owner, source, session]: readonly unknown[]): HistoryKey | undefined {
  const isOwner = owner === null || typeof owner === "string";
  return isOwner && typeof source === "string" && typeof session === "string" ? { owner, source, session } : undefined;
}

/** Undefined where it is a hash. */
function decodePart(part: string): string | null | undefined {
  if (part.startsWith("~")) {
    return part === UNOWNED ? null : undefined;
  }
  return part === EMPTY
    ? ""
    : part.replace(ESCAPED, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)));
}
