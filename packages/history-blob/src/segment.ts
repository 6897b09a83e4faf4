import type { BlobListItem } from "./client.ts";
import { corruptError, failure } from "./errors.ts";
import { isCount } from "./line-format.ts";

/** What is known of a segment by its name, and by the metadata that every blob of ours carries. */
export interface SegmentInfo {
  readonly segment: number;
  /** Random; a new one for each conversation that begins, also under a name that was in use before. */
  readonly life: string;
  /** The number of the conversation's first segment. */
  readonly first: number;
  /** The size of the segment before this one when it was sealed; 0 for the first. */
  readonly before: number;
  /** How many turns the segments before this one hold. */
  readonly base: number;
}

type Metadata = BlobListItem["metadata"];

const LAYOUT = 1;

/** The metadata of a new segment. `names` is the key where the blob's name does not tell it. */
export function encodeSegmentInfo(info: SegmentInfo, names: string | undefined): Record<string, string> {
  return {
    layout: `${LAYOUT}`,
    life: info.life,
    first: `${info.first}`,
    before: `${info.before}`,
    base: `${info.base}`,
    ...(names === undefined ? {} : { names }),
  };
}

/** Metadata by its names. Some clients give them in other cases than they were written in. */
export function metadataOf(metadata: Metadata): ReadonlyMap<string, string> {
  return new Map(Object.entries(metadata ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Which life a blob belongs to. Undefined: it does not say so. */
export function lifeOf({ metadata }: Pick<BlobListItem, "metadata">): string | undefined {
  return metadataOf(metadata).get("life");
}

/**
 * Reads metadata. Without a number the blob has a name that none of ours has.
 *
 * @throws `corrupt` for a blob that is none of ours, `unsupported` for one of a later version.
 */
export function decodeSegmentInfo(segment: number | undefined, metadata: Metadata): SegmentInfo {
  const fields = metadataOf(metadata);
  const life = fields.get("life");
  const [layout = 0, first, before, base] = ["layout", "first", "before", "base"].map((name) =>
    Number(fields.get(name) ?? Number.NaN),
  );
  if (layout > LAYOUT) {
    throw failure("unsupported", `the blob has layout version ${layout}; this package reads ${LAYOUT}`);
  }
  const isOurs = layout === LAYOUT && segment !== undefined && life !== undefined;
  if (!isOurs || !isCount(first) || !isCount(before) || !isCount(base)) {
    const position = segment === undefined ? "the conversation's folder" : `segment ${segment}`;
    throw corruptError("a blob of someone else stands among the segments", position);
  }
  return { segment, life, first, before, base };
}
