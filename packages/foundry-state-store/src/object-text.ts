import { isPlainObject } from "@agentfw/core";

/** True for the text of one JSON object. */
export function isObjectText(text: string): boolean {
  try {
    return isPlainObject(JSON.parse(text));
  } catch {
    return false;
  }
}
