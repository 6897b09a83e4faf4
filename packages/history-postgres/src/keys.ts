import { createHash } from "node:crypto";
import { type HistoryKey, historyKeyText } from "@agentfw/core";

/** How a conversation is named in the tables. */
export interface ConversationKey {
  /** 128 bits of SHA-256 over the key, as a UUID: short enough to lead every index, whatever the names are. */
  readonly key: string;
  /** The same over the owner alone, for what is asked of one owner. */
  readonly ownerKey: string;
  readonly owner: string | null;
  readonly source: string;
  readonly session: string;
}

/** The key of a conversation as the tables hold it. */
export function conversationKey(key: HistoryKey): ConversationKey {
  return {
    key: uuidOf(historyKeyText(key)),
    ownerKey: ownerKey(key.owner),
    owner: key.owner === null ? null : encodeText(key.owner),
    source: encodeText(key.source),
    session: encodeText(key.session),
  };
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

function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}
