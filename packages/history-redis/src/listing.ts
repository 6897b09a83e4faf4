import type { HistoryKey, HistoryKeyInfo, HistoryList, HistoryListFilter } from "@agentfw/core";
import type { OpenCall } from "@agentfw/core/backend";
import type { RedisClient } from "./client.ts";
import type { ConversationKeys } from "./keys.ts";
import type { ListCursor } from "./read-input.ts";
import { PRESENT } from "./read-scripts.ts";
import { stampTime } from "./record-reading.ts";
import { listOf, textOf } from "./replies.ts";

/** What is listed, and from where on. */
export interface ListTask {
  readonly buckets: number;
  readonly filter: HistoryListFilter;
  readonly limit: number;
  readonly after: ListCursor | undefined;
  /** The keys of a conversation, and of the index that names it. */
  keysOf(name: string, bucket: number): ConversationKeys;
}

/** A conversation that is there. */
interface Found {
  readonly cursor: string;
  readonly info: HistoryKeyInfo;
}

/** How many names are asked of a bucket at once, at most. */
const MOST_NAMES = 500;

/** Buckets asked at once: few at first, because a page is often full soon, then twice as many each time. */
const FIRST_BUCKETS = 8;

/** One page: bucket after bucket, in each by name, so that what is written meanwhile moves nothing. */
export async function listPage(client: RedisClient, task: ListTask, call: OpenCall): Promise<HistoryList> {
  const { limit, after, buckets } = task;
  const found: Found[] = [];
  let bucket = after?.bucket ?? 0;
  for (let width = FIRST_BUCKETS; bucket < buckets && found.length <= limit && !call.isOver; width *= 2) {
    const asked: Promise<Found[]>[] = [];
    for (const end = Math.min(bucket + width, buckets); bucket < end; bucket += 1) {
      asked.push(listBucket(client, task, bucket, call));
    }
    for (const one of await Promise.all(asked)) {
      found.push(...one);
    }
  }
  const items = found.slice(0, limit).map(({ info }) => info);
  const last = found[limit - 1];
  return found.length > limit && last !== undefined ? { items, cursor: last.cursor } : { items };
}

/** What a bucket has for one page, and one more if there is one. */
async function listBucket(client: RedisClient, task: ListTask, bucket: number, call: OpenCall): Promise<Found[]> {
  const { filter, limit, after } = task;
  const { names: index } = task.keysOf("", bucket);
  let [from, to] = rangeOf(filter);
  if (after?.bucket === bucket) {
    from = `(${after.name}`;
  }
  const count = Math.min(limit + 1, MOST_NAMES);
  const found: Found[] = [];
  let names: string[];
  do {
    names = listOf(await client.call("zrangebylex", [index, from, to, "limit", 0, count])).map(textOf);
    found.push(...(await present(client, task, bucket, names)));
    from = `(${names.at(-1)}`;
  } while (names.length === count && found.length <= limit && !call.isOver);
  return found;
}

/** Those that the filter wants and that are still there. What expired is taken out of the index on the way. */
async function present(
  client: RedisClient,
  { filter, keysOf }: ListTask,
  bucket: number,
  indexed: readonly string[],
): Promise<Found[]> {
  const wanted = indexed.flatMap((name) => {
    const key = keyOf(name);
    return key !== undefined && (filter.source ?? key.source) === key.source ? [{ name, key }] : [];
  });
  if (wanted.length === 0) {
    return [];
  }
  const { names, expiries } = keysOf("", bucket);
  const keys = [names, expiries, ...wanted.map(({ name }) => keysOf(name, bucket).records)];
  const args = [PRESENT, keys.length, ...keys, ...wanted.map(({ name }) => name)];
  const versions = listOf(await client.call("eval", args)).map(textOf);
  return wanted.flatMap(({ name, key }, index) => {
    const version = versions[index] ?? "";
    const time = stampTime(version);
    const updatedAt = time === undefined ? {} : { updatedAt: new Date(time).toISOString() };
    return version === "" ? [] : [{ cursor: `${bucket}:${name}`, info: { key, ...updatedAt } }];
  });
}

/** The stretch of names, in lexical order, that a filter can match: an owner's names begin alike. */
function rangeOf(filter: HistoryListFilter): [from: string, to: string] {
  if ("allOwners" in filter) {
    return ["-", "+"];
  }
  const parts = filter.source === undefined ? [filter.owner] : [filter.owner, filter.source];
  const start = JSON.stringify(parts).slice(0, -1);
  // A comma follows in each of them, and a hyphen is the next character after it.
  return [`[${start},`, `(${start}-`];
}

/** The key that a name stands for. A name that is none is left alone. */
function keyOf(name: string): HistoryKey | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(name);
  } catch {
    return undefined;
  }
  const [owner, source, session] = Array.isArray(parts) ? parts : [];
  const isOwner = owner === null || typeof owner === "string";
  return isOwner && typeof source === "string" && typeof session === "string" ? { owner, source, session } : undefined;
}
