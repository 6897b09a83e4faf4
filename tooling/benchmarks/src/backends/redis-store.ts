import type { HistoryRecord } from "@agentfw/core";
import type { RedisHistoryStore } from "@agentfw/history-redis";
import { LOADED_MESSAGES, messages } from "../conversation.ts";
import type { Backend, JobContext, OpenJob, Operation } from "../measurement.ts";
import { assertLoaded } from "../provider-turns.ts";
import { openRedis, openRedisStore, type RedisPlace } from "../redis-place.ts";
import { appendingRecords, inPieces, keyOf, loadingRecords, records } from "../store-records.ts";
import { FEW_MESSAGES } from "./redis.ts";

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
  const rawAppend = (added: readonly HistoryRecord[]) => place.client.rpush(list, ...added.map(({ data }) => data));
  const raw = appendingRecords("raw", {
    prepare: async () => {
      await place.client.del(list);
      await rawAppend(seed);
    },
    append: rawAppend,
  });
  const ours = appendingRecords("agentfw", {
    prepare: async () => {
      await store.clear(key);
      await store.append(key, seed);
    },
    append: (added) => store.append(key, added),
  });
  return { contenders: [raw, ours].map(place.counted), close: closing(store, place) };
}

async function loadJob([count = 0, ...otherCounts]: readonly number[]): Promise<OpenJob> {
  const place = await openRedis();
  const { store } = openRedisStore(place);
  const contenders = [await rawLoad(place, count), await loadingRecords(store, "agentfw", count)];
  for (const length of otherCounts) {
    contenders.push(await loadingRecords(store, `agentfw ${length}`, length));
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

function closing(store: RedisHistoryStore, place: RedisPlace): () => Promise<void> {
  return async () => {
    await store.close();
    await place.close();
  };
}
