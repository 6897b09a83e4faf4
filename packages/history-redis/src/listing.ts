import type { HistoryKey, HistoryKeyInfo, HistoryList, HistoryListFilter } from "@agentfw/core";
import type { RedisClient } from "./client.ts";
import { failureOf } from "./errors.ts";
import type { ConversationKeys } from "./keys.ts";
import type { ListCursor } from "./read-input.ts";
import { PRESENT } from "./read-scripts.ts";
import { stampTime } from "./record-reading.ts";
import { listOf, textOf } from "./replies.ts";
import type { Script } from "./script.ts";

/** What is listed, and from where on. */
export interface ListTask {
  readonly buckets: number;
  readonly filter: HistoryListFilter;
  readonly limit: number;
  readonly after: ListCursor | undefined;
  /** The keys of a conversation, and of the index that names it. */
  keysOf(name: string, bucket: number): ConversationKeys;
  /** True when nobody waits any more. */
  isOver(): boolean;
}

/** A conversation that is there. */
interface Found {
  readonly name: string;
  readonly info: HistoryKeyInfo;
}

/** How many names are asked of a bucket at once, at most. */
const MOST_NAMES = 500;

/** Buckets asked at once: few at first, because a page is often full soon, then twice as many each time. */
const FIRST_BUCKETS = 8;

/** One page: bucket after bucket, in each by name, so that what is written meanwhile moves nothing. */
export async function listPage(client: RedisClient, task: ListTask): Promise<HistoryList> {
  const { limit, after } = task;
  const found: (Found & { readonly bucket: number })[] = [];
  let bucket = after?.bucket ?? 0;
  for (let width = FIRST_BUCKETS; bucket < task.buckets && found.length <= limit && !task.isOver(); width *= 2) {
    const buckets = Array.from({ length: Math.min(width, task.buckets - bucket) }, (_, index) => bucket + index);
    const start = (one: number) => (after?.bucket === one ? after.name : undefined);
    const perBucket = await Promise.all(buckets.map((one) => listBucket(client, task, one, start(one))));
    for (const [index, infos] of perBucket.entries()) {
      found.push(...infos.map((one) => ({ bucket: bucket + index, ...one })));
    }
    bucket += buckets.length;
  }
  const items = found.slice(0, limit).map(({ info }) => info);
  const last = found[limit - 1];
  return found.length > limit && last !== undefined ? { items, cursor: `${last.bucket}:${last.name}` } : { items };
}

/** What a bucket has for one page, and one more if there is one. */
async function listBucket(
  client: RedisClient,
  task: ListTask,
  bucket: number,
  after: string | undefined,
): Promise<Found[]> {
  const { names: index } = task.keysOf("", bucket);
  const [from, to] = rangeOf(task.filter);
  const count = Math.min(task.limit + 1, MOST_NAMES);
  const found: Found[] = [];
  for (let start = after; found.length <= task.limit && !task.isOver(); ) {
    const range = [index, start === undefined ? from : `(${start}`, to, "limit", 0, count];
    const names = listOf(await client.call("zrangebylex", range)).map(textOf);
    const wanted = names.flatMap((name) => matching(name, task.filter));
    found.push(...(await present(client, task, bucket, wanted)));
    start = names.at(-1);
    if (names.length < count) {
      break;
    }
  }
  return found;
}

/** Those of the conversations that are still there. What expired is taken out of the index on the way. */
async function present(
  client: RedisClient,
  { keysOf }: ListTask,
  bucket: number,
  candidates: readonly { name: string; key: HistoryKey }[],
): Promise<Found[]> {
  if (candidates.length === 0) {
    return [];
  }
  const { names, expiries } = keysOf("", bucket);
  const keys = candidates.map(({ name }) => keysOf(name, bucket).records);
  const args = candidates.map(({ name }) => name);
  const versions = listOf(await runScript(client, PRESENT, [names, expiries, ...keys], args)).map(textOf);
  return candidates.flatMap(({ name, key }, index) => {
    const version = versions[index] ?? "";
    const time = stampTime(version);
    const updatedAt = time === undefined ? {} : { updatedAt: new Date(time).toISOString() };
    return version === "" ? [] : [{ name, info: { key, ...updatedAt } }];
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

/** The key that a name stands for, if the filter wants it. A name that is none is left alone. */
function matching(name: string, filter: HistoryListFilter): { name: string; key: HistoryKey }[] {
  const key = parseName(name);
  return key !== undefined && (filter.source === undefined || filter.source === key.source) ? [{ name, key }] : [];
}

function parseName(name: string): HistoryKey | undefined {
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

/** Runs a script that is one of several commands of a call. */
async function runScript(
  client: RedisClient,
  { text, sha }: Script,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> {
  const rest = [String(keys.length), ...keys, ...args];
  try {
    return await client.call("evalsha", [sha, ...rest]);
  } catch (error) {
    if (failureOf(error).outcome !== "forgotten") {
      throw error;
    }
    return client.call("eval", [text, ...rest]);
  }
}
