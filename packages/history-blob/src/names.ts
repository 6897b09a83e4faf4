import type { HistoryKey } from "@agentfw/core";
import { decodeNamePart } from "./name-part.ts";
import { UNOWNED } from "./places.ts";

/** Sorts names so that the newest is the first one that a listing gives. */
const HIGHEST_SEGMENT = 999_999_999;
const SEGMENT_NAME = /^s(\d{9})-(\d{1,9})\.jsonl$/;

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
  return segment === undefined ? undefined : { directory, segment, key: keyOf(owner, source, session) };
}

function keyOf(owner: string, source: string, session: string): HistoryKey | undefined {
  const [ownerName, sourceName, sessionName] = [owner, source, session].map(decodeNamePart);
  const decoded = owner === UNOWNED ? null : ownerName;
  return decoded === undefined || sourceName === undefined || sessionName === undefined
    ? undefined
    : { owner: decoded, source: sourceName, session: sessionName };
}
