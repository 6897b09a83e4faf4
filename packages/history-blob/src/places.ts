import { createHash } from "node:crypto";
import { type HistoryKey, historyKeyText } from "@agentfw/core";
import { failure } from "./errors.ts";
import { encodeNamePart } from "./name-part.ts";

/**
 * A conversation's blobs are `<prefix>/<owner>/<source>/<session>/s<newest first>-<number>.jsonl`. Each part is readable
 * where it is plain; a character that is not becomes `=` and its UTF-16 unit in four hexadecimal digits. A part that
 * would be longer than a quarter of what a name can hold is `~` and its SHA-256.
 */

const LONGEST_PART = 240;
/** Stands for no owner. */
export const UNOWNED = "~unowned";
/** What a blob's metadata can hold besides what the store itself notes there. */
const MOST_NAME_BYTES = 5_000;

/** Where a conversation's blobs are. */
export interface ConversationPlace {
  /** Ends with a slash. */
  readonly directory: string;
  /** The key as metadata, where the directory does not tell it. */
  readonly names: string | undefined;
}

/**
 * The place of a conversation, different for any two keys.
 *
 * @throws `too_large` for names that no metadata can hold, when they must be found again by `list`.
 */
export function conversationPlace(prefix: string, key: HistoryKey, isListed: boolean): ConversationPlace {
  const directory = `${ownerDirectory(prefix, key.owner, key.source)}${encodePart(key.session)}/`;
  if (!isListed || !/\/~(?!unowned\/)/.test(directory)) {
    return { directory, names: undefined };
  }
  const names = Buffer.from(historyKeyText(key)).toString("base64");
  if (names.length > MOST_NAME_BYTES) {
    throw failure("too_large", "key: owner, source and session are too long to be listed");
  }
  return { directory, names };
}

/** What the names of all blobs of an owner, and with a source of that source, begin with. */
export function ownerDirectory(prefix: string, owner: string | null, source?: string): string {
  const directory = `${prefix}/${owner === null ? UNOWNED : encodePart(owner)}/`;
  return source === undefined ? directory : `${directory}${encodePart(source)}/`;
}

function encodePart(name: string): string {
  const part = encodeNamePart(name);
  // JSON text tells lone surrogates apart, which UTF-8 alone does not.
  return part.length > LONGEST_PART ? `~${createHash("sha256").update(JSON.stringify(name)).digest("hex")}` : part;
}
