import type { StateItem, Tags } from "@agentfw/core";
import { assertTags, isObjectText } from "@agentfw/core/backend";
import type { Row } from "./connection.ts";
import { errors } from "./errors.ts";

/** The item that the row holds, if there is one. @throws `corrupt` */
export function itemOf(key: string, [row]: readonly Row[]): StateItem | undefined {
  if (row === undefined) {
    return undefined;
  }
  const [etag, tagText, value] = row;
  const tags = tagsOf(tagText);
  const text = String(value);
  if (tags === undefined || !isObjectText(text)) {
    const position = tags === undefined ? "tags" : "value";
    throw errors.corrupt(`get: the ${position} of an item cannot be read`, position);
  }
  return { key, text, etag: String(etag), tags };
}

/** The tags that this text was made of, or nothing when it was made of none. */
export function tagsOf(text: unknown): Tags | undefined {
  try {
    const tags: unknown = JSON.parse(String(text));
    assertTags(tags);
    return Object.freeze(tags);
  } catch {
    return undefined;
  }
}
