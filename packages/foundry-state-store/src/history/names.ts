import { createHash, randomBytes } from "node:crypto";
import { type HistoryKey, historyKeyText, type Tags } from "@agentfw/core";

/** One conversation in the store. */
export interface Place {
  readonly key: HistoryKey;
  /** Stands for the conversation in the keys of its items. */
  readonly hash: string;
  /** The key of its head. */
  readonly headKey: string;
}

/** Where a conversation is. Names of any length and with any characters have a place of their own. */
export function placeOf(key: HistoryKey): Place {
  const hash = hashOf(historyKeyText(key), 24);
  return { key, hash, headKey: `h1/${hash}` };
}

/** A life of a conversation: it begins with the first append, ends with a clear, and never comes back. */
export function newLife(): string {
  return randomBytes(12).toString("base64url");
}

/** The key of a turn. */
export function turnKey({ hash }: Place, life: string, turn: number): string {
  return `t1/${hash}/${life}/${turn}`;
}

/** Which life and turn a key of a turn names. */
export function parseTurnKey(
  { hash }: Place,
  key: string,
): { readonly life: string; readonly turn: number } | undefined {
  const [, found, life, turn] = /^t1\/([^/]{32})\/([^/]{16})\/([1-9]\d{0,8})$/.exec(key) ?? [];
  return found === hash && life !== undefined ? { life, turn: Number(turn) } : undefined;
}

/** What a head can be listed by: all of it where it is written, and where heads are looked for what they must carry. */
export function headTags({
  owner,
  source,
}: {
  readonly owner?: string | null;
  readonly source?: string | undefined;
}): Tags {
  return {
    agentfw: "conversation",
    // `null` is not the text "null".
    ...(owner === undefined ? {} : { owner: hashOf(JSON.stringify(owner), 16) }),
    ...(source === undefined ? {} : { source: hashOf(source, 16) }),
  };
}

/** What all turns of a conversation carry. */
export function conversationTags({ hash }: Place): Tags {
  return { agentfw: "turn", conversation: hash };
}

/** A record id as it is remembered. 96 bits of it never meet another. */
export function idHash(id: string): string {
  return hashOf(JSON.stringify(id), 12);
}

function hashOf(text: string, bytes: number): string {
  return createHash("sha256").update(text, "utf8").digest().subarray(0, bytes).toString("base64url");
}
