import { assertName } from "@agentfw/core";
import { assertByteLength, assertOwner } from "@agentfw/core/backend";

/** Version of the stored layout; part of every key. */
const LAYOUT = 1;

/** Longest key and longest owner, in UTF-8 bytes. */
const MAX_NAME_BYTES = 8_192;

/**
 * The keys of one item and of its owner's index, in the order in which scripts take them. Their hash tag is the owner, so a
 * cluster keeps them in one slot.
 */
export interface ItemKeys {
  /** STRING: the item's text. */
  readonly value: string;
  /** HASH: for each name, the item's etag, times and tags. What is not in here does not exist. */
  readonly entries: string;
  /** ZSET of names by the order of creation. */
  readonly order: string;
  /** ZSET of tags, each followed by the order of creation and the name, in lexical order. */
  readonly tags: string;
  /** ZSET of the names that expire, by the time at which they do, in milliseconds since the epoch. */
  readonly expiries: string;
}

/** Braces, which make hash tags, our own escape, and what redis-cli or a terminal cannot show. */
const ESCAPED = /[\p{Cc}\p{Cs}\p{Z}{}~]/gu;

/**
 * One text for one name, different for any two names: readable, without braces, spaces and control characters, and
 * valid UTF-8 also for a lone surrogate.
 *
 * @throws `configuration` for anything but a non-empty string, `too_large` above 8,192 bytes.
 */
export function storedName(key: unknown): string {
  assertName(key, "key");
  assertByteLength(key, "key", MAX_NAME_BYTES);
  return encode(key);
}

/**
 * The keys of an item; `null` and an absent owner are the unowned partition, which is apart from the owner "".
 *
 * @throws `configuration` for an owner that is neither a string nor `null`, `too_large` above 8,192 bytes.
 */
export function itemKeys(prefix: string, owner: unknown, name: string): ItemKeys {
  const tag = ownerTag(owner);
  const of = (kind: string) => `${prefix}:${LAYOUT}:${kind}:{${tag}}`;
  // The braces are the first in the key, because the prefix may not hold any; so they are the hash tag.
  return {
    value: `${of("s")}:${name}`,
    entries: of("se"),
    order: of("so"),
    tags: of("st"),
    expiries: of("sx"),
  };
}

function ownerTag(owner: unknown): string {
  if (owner === undefined || owner === null) {
    return "unowned";
  }
  assertOwner(owner, "owner");
  assertByteLength(owner, "owner", MAX_NAME_BYTES);
  return `owner:${encode(owner)}`;
}

function encode(name: string): string {
  return name.replace(ESCAPED, (character) => `~${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
