import { AgentFrameworkError, configurationError, isPlainObject, type Tags, utf8Length } from "@agentfw/core";
import { PROVIDER } from "./provider.ts";

const MAX_TAGS = 64;

/** All names and values of an item's tags together, in UTF-8 bytes of their JSON texts. */
const MAX_TAGS_BYTES = 16_384;

/**
 * Refuses a text that is not one JSON object in valid UTF-8, or too large.
 *
 * @throws `configuration`, `too_large`
 */
export function assertText(text: unknown, maxValueBytes: number): asserts text is string {
  if (typeof text !== "string") {
    throw configurationError("text", "must be the JSON text of an object");
  }
  if (text.length * 3 > maxValueBytes && utf8Length(text) > maxValueBytes) {
    throw tooLarge("text", maxValueBytes);
  }
  // A raw lone surrogate has no UTF-8, so it would come back as something else; escaped in JSON it is fine.
  if (!isObjectText(text) || !text.isWellFormed()) {
    throw configurationError("text", "must be the JSON text of an object");
  }
}

/** True for the text of one JSON object. */
export function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * Tags as they are stored and looked for: a JSON text of name and value for each, sorted. No such text begins another
 * one, none holds a line break, and a lone surrogate comes out as an escape.
 *
 * @throws `configuration`, `too_large`
 */
export function storedTags(tags: Tags | undefined): readonly string[] {
  if (tags === undefined) {
    return [];
  }
  // A Map for one has no entries of its own, and would be no tags at all.
  if (!isPlainObject(tags)) {
    throw configurationError("tags", "must be a plain object of strings");
  }
  const texts = Object.entries(tags).map(([name, value]) => {
    if (name === "" || typeof value !== "string") {
      throw configurationError("tags", "each must be a string under a non-empty name");
    }
    return JSON.stringify([name, value]);
  });
  if (texts.length > MAX_TAGS) {
    throw configurationError("tags", `must be at most ${MAX_TAGS}`);
  }
  if (texts.reduce((bytes, text) => bytes + utf8Length(text), 0) > MAX_TAGS_BYTES) {
    throw tooLarge("tags", MAX_TAGS_BYTES);
  }
  return texts.sort();
}

/** The tags that {@link storedTags} made these lines of, or nothing when it did not. */
export function tagsOf(lines: string): Tags | undefined {
  try {
    const pairs = lines.split("\n").filter(Boolean).map(toPair);
    return Object.freeze(Object.fromEntries(pairs));
  } catch {
    return undefined;
  }
}

function toPair(line: string): [string, string] {
  const pair: unknown = JSON.parse(line);
  if (Array.isArray(pair) && typeof pair[0] === "string" && typeof pair[1] === "string") {
    return [pair[0], pair[1]];
  }
  throw configurationError("tags", "each must be a name and a value");
}

function tooLarge(field: string, bytes: number): AgentFrameworkError {
  return new AgentFrameworkError("too_large", `${field}: above the limit of ${bytes} bytes`, { provider: PROVIDER });
}
