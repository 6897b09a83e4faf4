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

/** When something was made and last changed, in ISO 8601, of the seconds that the wire and the files count. */
export function timesOf(
  createdAt: unknown,
  updatedAt: unknown,
): { readonly createdAt: string | undefined; readonly updatedAt: string | undefined } {
  return { createdAt: timeOf(createdAt), updatedAt: timeOf(updatedAt) };
}

function timeOf(seconds: unknown): string | undefined {
  const isTime = typeof seconds === "number" && Math.abs(seconds) < 8.64e12;
  return isTime ? new Date(seconds * 1_000).toISOString() : undefined;
}
