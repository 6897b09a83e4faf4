import { isPlainObject, type Tags } from "@agentfw/core";

/** The object that a JSON text is, or `undefined` for any other text. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Tags as they are found, or `undefined` for what is none. */
export function parseTags(value: unknown): Tags | undefined {
  return isTags(value) ? Object.freeze({ ...value }) : undefined;
}

function isTags(value: unknown): value is Tags {
  return isPlainObject(value) && Object.values(value).every((text) => typeof text === "string");
}
