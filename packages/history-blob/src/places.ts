import { createHash } from "node:crypto";
import type { HistoryKey } from "@agentfw/core";
import { failure } from "./errors.ts";

/**
 * A conversation's blobs are `<prefix>/<owner>/<source>/<session>/s<newest first>-<number>.jsonl`. Each part is readable
 * where it is plain; a character that is not becomes `=` and its UTF-16 unit in four hexadecimal digits. A part that
 * would be longer than a quarter of what a name can hold is `~` and its SHA-256.
 */

const LONGEST_PART = 240;
/** Stands for no owner. */
export const UNOWNED = "~unowned";
/** Stands for the empty text. */
export const EMPTY = "=";
/** A dot may neither begin nor end a part: tools and clients take such names for something else. */
const NOT_PLAIN = /[^A-Za-z0-9._@+-]|^\.|\.$/g;
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
export function conversationPlace(
  prefix: string,
  { owner, source, session }: HistoryKey,
  isListed: boolean,
): ConversationPlace {
  const directory = `${ownerDirectory(prefix, owner, source)}${encodePart(session)}/`;
  if (!isListed || !/\/~(?!unowned\/)/.test(directory)) {
    return { directory, names: undefined };
  }
  const names = Buffer.from(JSON.stringify([owner, source, session])).toString("base64");
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
  const escaped = name.replace(NOT_PLAIN, (unit) => `=${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (escaped.length > LONGEST_PART) {
    // JSON text tells lone surrogates apart, which UTF-8 alone does not.
    return `~${createHash("sha256").update(JSON.stringify(name)).digest("hex")}`;
  }
  return escaped || EMPTY;
}
