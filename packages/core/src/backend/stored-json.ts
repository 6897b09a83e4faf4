import { isPlainObject } from "../json.ts";
import type { Tags } from "../ports/state-types.ts";

/*
 * What was stored, or came as a reply, read without trust. That it is none of what it should be is an ordinary answer here:
 * the caller knows what that means, and where it stands.
 */

/** The object that a JSON text is, or `undefined` for any other text. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Tags, frozen, or `undefined` for anything but an object of strings. */
export function parseTags(value: unknown): Tags | undefined {
  return isTags(value) ? Object.freeze({ ...value }) : undefined;
}

function isTags(value: unknown): value is Tags {
  return isPlainObject(value) && Object.values(value).every((text) => typeof text === "string");
}
