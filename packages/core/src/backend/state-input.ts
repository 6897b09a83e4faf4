import { configurationError } from "../errors.ts";
import { isPlainObject } from "../json.ts";
import type { Tags } from "../ports/state-types.ts";
import { assertByteLength } from "../store-input.ts";

/** True for the text of one JSON object. */
export function isObjectText(text: string): boolean {
  try {
    return isPlainObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/**
 * Refuses a value that is not the text of one JSON object in valid UTF-8, or above the limit.
 *
 * @throws `configuration`, `too_large`
 */
export function assertStateText(text: unknown, maxValueBytes: number): asserts text is string {
  if (typeof text === "string") {
    assertByteLength(text, "text", maxValueBytes);
    // A raw lone surrogate has no UTF-8, so it would come back as something else; escaped in JSON it is fine.
    if (text.isWellFormed() && isObjectText(text)) {
      return;
    }
  }
  throw configurationError("text", "must be the JSON text of an object");
}

/** Refuses tags that are not a plain object of strings. @throws `configuration` naming the tag */
export function assertTags(tags: unknown): asserts tags is Tags {
  // A Map has no entries of its own, and would be no tags at all.
  if (!isPlainObject(tags)) {
    throw configurationError("tags", "must be an object of strings");
  }
  for (const name in tags) {
    if (name === "" || typeof tags[name] !== "string") {
      throw configurationError(`tags.${name}`, "must be a string under a non-empty name");
    }
  }
}
