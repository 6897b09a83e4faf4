import type { HistoryKey, HistoryRecord, Message } from "@agentfw/core";
import type { RedisHistoryStore } from "@agentfw/history-redis";
import { messages, TurnSource } from "../conversation.ts";
import { type Backend, type JobContext, LOADED_MESSAGES, type OpenJob, type Operation } from "../measurement.ts";
import { assertLoaded } from "../provider-turns.ts";
import { openRedis, openRedisStore, type RedisPlace } from "../redis-place.ts";
import { FEW_MESSAGES } from "./redis.ts";

/** Turns that are made before a block and appended in it. */
const TURNS_IN_A_BLOCK = 125;
/** As many of a conversation's records are appended at once when it is filled. */
const PIECE = 1000;

/**
 * The store alone against its commands alone, with texts that are there already: no message is made into JSON, and none
 * is made of it.
 */
export const redisStoreBackend: Backend = {
  name: "redis-store",
  jobs: {
    "append-turn": appendJob,
    "load-last-20": ({ sizes }) => loadJob([sizes.messages]),
    "load-last-20-of-100000": ({ sizes }) => loadJob([sizes.manyMessages, FEW_MESSAGES]),
  },
};

async function appendJob({ sizes }: JobContext): Promise<OpenJob> {
  const place = await openRedis();
  const { store } = openRedisStore(place);
  const list = `${place.prefix}-raw`;
  const key = keyOf("append");
  const seed = records(messages(sizes.messages));
  const raw = appending("raw", {
    empty: () => place.client.del(list),
    append: (added) => place.client.rpush(list, ...added.map(({ data }) => data)),
    seed,
  });
  const ours = appending("agentfw", {
    empty: () => store.clear(key),
    append: (added) => store.append(key, added),
    seed,
  });
  return { contenders: [raw, ours].map(place.counted), close: closing(store, place) };
}

/** Where turns are appended. */
interface Target {
  empty(): Promise<unknown>;
  append(added: readonly HistoryRecord[]): Promise<unknown>;
  readonly seed: readonly HistoryRecord[];
}

function appending(name: string, { empty, append, seed }: Target): Operation {
  const turns = new TurnSource();
  let ready: HistoryRecord[][] = [];
  return {
    name,
    maxOperations: TURNS_IN_A_BLOCK,
    prepare: async () => {
      await empty();
      await append(seed);
      ready = Array.from({ length: TURNS_IN_A_BLOCK }, () => {
        const { user, assistant } = turns.next();
        return records([user, assistant]);
      });
    },
    operation: () => append(ready.pop() ?? []),
  };
}

async function loadJob([count = 0, ...otherCounts]: readonly number[]): Promise<OpenJob> {
  const place = await openRedis();
  const { store } = openRedisStore(place);
  const contenders = [await rawLoad(place, count), await storeLoad(store, "agentfw", count)];
  for (const length of otherCounts) {
    contenders.push(await storeLoad(store, `agentfw ${length}`, length));
  }
  return { contenders: contenders.map(place.counted), close: closing(store, place) };
}

async function rawLoad({ client, prefix }: RedisPlace, count: number): Promise<Operation> {
  const list = `${prefix}-raw`;
  await inPieces(count, (piece) => client.rpush(list, ...piece.map(({ data }) => data)));
  return {
    name: "raw",
    operation: async () => assertLoaded((await client.lrange(list, -LOADED_MESSAGES, -1)).length),
  };
}

async function storeLoad(store: RedisHistoryStore, name: string, count: number): Promise<Operation> {
  const key = keyOf(String(count));
  await inPieces(count, (piece) => store.append(key, piece));
  return {
    name,
    operation: async () => assertLoaded((await store.read(key, { last: LOADED_MESSAGES })).records.length),
  };
}

async function inPieces(count: number, append: (piece: readonly HistoryRecord[]) => Promise<unknown>): Promise<void> {
  const all = records(messages(count));
  for (let start = 0; start < all.length; start += PIECE) {
    await append(all.slice(start, start + PIECE));
  }
}

function records(list: readonly Message[]): HistoryRecord[] {
  return list.map((message) => ({ id: message.messageId, data: JSON.stringify(message) }));
}

function keyOf(session: string): HistoryKey {
  return { owner: null, source: "history", session };
}

function closing(store: RedisHistoryStore, place: RedisPlace): () => Promise<void> {
  return async () => {
    await store.close();
    await place.close();
  };
}
