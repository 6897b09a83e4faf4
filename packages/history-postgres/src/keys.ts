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

/** The server takes a UUID also without its hyphens. */
function uuidOf(text: string): string {
  return hash("sha256", text, "hex").slice(0, 32);
}
