import { type HistoryKey, historyKeyText } from "@agentfw/core";

/** Version of the stored layout; part of every key. */
const LAYOUT = 1;

/** Conversations are spread over this many hash tags. Never changes within a layout: it decides where a key is. */
export const BUCKETS = 128;

/**
 * The keys of one conversation, in the order in which scripts take them. They share a hash tag, and so a cluster's slot, with
 * the index that names it.
 */
export interface ConversationKeys {
  /** LIST of records, oldest first. It exists exactly as long as the conversation does. */
  readonly records: string;
  /** SET of the ids that are remembered. */
  readonly ids: string;
  /** LIST of remembered ids whose records are gone, oldest first. Only where `maxRecords` is in use. */
  readonly removed: string;
  /** ZSET of the bucket's conversation names, in lexical order. */
  readonly names: string;
  /** ZSET of those that expire, by the time at which they do, in milliseconds since the epoch. */
  readonly expiries: string;
}

/** The keys of one conversation, different for any two conversations. */
export function conversationKeys(prefix: string, key: HistoryKey): ConversationKeys {
  const name = historyKeyText(key);
  return keysOfName(prefix, name, bucketOf(name));
}

/** The keys of a conversation that the index of a bucket names; under any name, those of the index. */
export function keysOfName(prefix: string, name: string, bucket: number): ConversationKeys {
  // The braces are the first in the key, because the prefix may not hold any; so they are the hash tag.
  const of = (kind: string) => `${prefix}:${LAYOUT}:${kind}:{${bucket}}`;
  return {
    records: `${of("h")}:${name}`,
    ids: `${of("i")}:${name}`,
    removed: `${of("r")}:${name}`,
    names: of("n"),
    expiries: of("e"),
  };
}

/** FNV-1a over the UTF-16 units of the name. */
function bucketOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % BUCKETS;
}
