import type { Tags } from "@agentfw/core";
import { assertTagLimits, assertTags } from "@agentfw/core/backend";

/** Of the tags of one item. */
const MOST = { maxTags: 64, maxBytes: 16_384 };

/**
 * Tags as they are stored and looked for: a JSON text of name and value for each, sorted. No such text begins another
 * one, none holds a line break, and a lone surrogate comes out as an escape.
 *
 * @throws `configuration`, `too_large`
 */
export function storedTags(tags: Tags = {}): readonly string[] {
  assertTags(tags);
  assertTagLimits(tags, MOST);
  return Object.entries(tags)
    .map((tag) => JSON.stringify(tag))
    .sort();
}
