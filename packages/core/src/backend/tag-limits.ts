import { configurationError } from "../errors.ts";
import type { Tags } from "../ports/state-types.ts";
import { assertByteLength } from "../store-input.ts";

/** The most that a store takes of the tags of one item. */
export interface TagLimits {
  readonly maxTags: number;
  /** Names and values together, in UTF-8 bytes of their JSON text. */
  readonly maxBytes: number;
}

/** Refuses more tags than a store takes. For tags that `assertTags` let pass. @throws `configuration`, `too_large` */
export function assertTagLimits(tags: Tags, { maxTags, maxBytes }: TagLimits): void {
  if (Object.keys(tags).length > maxTags) {
    throw configurationError("tags", `must be at most ${maxTags}`);
  }
  assertByteLength(JSON.stringify(tags), "tags", maxBytes);
}
