import { createHash } from "node:crypto";
import type { HistoryKey } from "@agentfw/core";

/**
 * Names that are kept as they are. Lower case only, because some file systems take `A` and `a` for one name; plain
 * ASCII, because some change the form of accented letters; no first dot, no colon or separator.
 */
const PLAIN = /^[a-z0-9][a-z0-9._@+-]{0,99}$/;

/** Names of devices on Windows, with or without an extension. */
const DEVICE = /^(?:con|prn|aux|nul|clock|com[0-9]|lpt[0-9])(?:\.|$)/;

/** The partition of conversations without an owner, and names that are hashed. No name that is kept begins like this. */
const ENCODED = /^_(?:unowned|[0-9a-f]{64})$/;

const EXTENSION = ".jsonl";

/** The directory of writers' names at the root. It matches no partition. */
export const WRITERS_DIRECTORY = "_writers";

/** Where a conversation is, relative to the root: two directories and a file. */
export type ConversationPath = readonly [owner: string, source: string, file: string];

/**
 * The path of a conversation: different for any two keys, and never outside the root. A short lower-case name stays
 * readable; every other becomes `_` and the SHA-256 of its JSON text, which also tells lone surrogates apart.
 */
export function conversationPath({ owner, source, session }: HistoryKey): ConversationPath {
  return [ownerDirectory(owner), encodeName(source), encodeName(session) + EXTENSION];
}

/** The directory of an owner's conversations. */
export function ownerDirectory(owner: string | null): string {
  return owner === null ? "_unowned" : encodeName(owner);
}

/** True for a name that {@link conversationPath} can give to a directory. */
export function isPartition(name: string): boolean {
  return PLAIN.test(name) || ENCODED.test(name);
}

/** True for a name that {@link conversationPath} can give to a file; locks and temporary files end differently. */
export function isConversationFile(name: string): boolean {
  return name.endsWith(EXTENSION) && isPartition(name.slice(0, -EXTENSION.length));
}

/** A directory's name for a source, or a file's without its extension for a session. */
export function encodeName(name: string): string {
  if (PLAIN.test(name) && !name.endsWith(".") && !DEVICE.test(name)) {
    return name;
  }
  return `_${createHash("sha256").update(JSON.stringify(name)).digest("hex")}`;
}
