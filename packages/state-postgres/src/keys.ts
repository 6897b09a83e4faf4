import { hash } from "node:crypto";

/** 128 bits of SHA-256 over owner and key, as a UUID: short enough for an index, whatever the names are. */
export function itemKey(owner: string | null, key: string): string {
  return uuidOf(JSON.stringify([owner, key]));
}

/** What the items of an owner that carry a tag have in common. */
export function tagKey(owner: string | null, name: string, value: string): string {
  return uuidOf(JSON.stringify([owner, name, value]));
}

/** What all items of an owner have in common. `null` is not `""`. */
export function ownerKey(owner: string | null): string {
  return uuidOf(JSON.stringify(owner));
}

/** The server takes a UUID also without its hyphens. */
function uuidOf(text: string): string {
  return hash("sha256", text, "hex").slice(0, 32);
}
