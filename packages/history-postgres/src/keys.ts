import { hash } from "node:crypto";
import { type HistoryKey, historyKeyText } from "@agentfw/core";

/** 128 bits of SHA-256 over the key, as a UUID: short enough to lead every index, whatever the names are. */
export function conversationKey(key: HistoryKey): string {
  return uuidOf(historyKeyText(key));
}

/** What all conversations of an owner have in common. `null` is not `""`. */
export function ownerKey(owner: string | null): string {
  return uuidOf(JSON.stringify(owner));
}

const NEEDS_ESCAPE = /[\\\0\n]|\p{Cs}/u;
const ESCAPABLE = /[\\\0\n]|\p{Cs}/gu;
const ESCAPED = /\\(?:\\|u([0-9a-f]{4}))/g;

/**
 * A text without what the server cannot hold, NUL and lone surrogates, and on one line; different for any two texts.
 */
export function encodeText(text: string): string {
  return NEEDS_ESCAPE.test(text)
    ? text.replace(ESCAPABLE, (one) =>
        one === "\\" ? "\\\\" : `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
      )
    : text;
}

/** The text that {@link encodeText} was given. */
export function decodeText(text: string): string {
  return text.includes("\\")
    ? text.replace(ESCAPED, (_, unit?: string) =>
        unit === undefined ? "\\" : String.fromCharCode(Number.parseInt(unit, 16)),
      )
    : text;
}

/** The server takes a UUID also without its hyphens. */
function uuidOf(text: string): string {
  return hash("sha256", text, "hex").slice(0, 32);
}
