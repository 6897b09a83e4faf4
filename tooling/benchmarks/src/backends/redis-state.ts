import { RedisStateStore } from "@agentfw/state-redis";
import type { Backend, JobContext, OpenJob, Operation } from "../measurement.ts";
import { openRedis, type RedisPlace } from "../redis-place.ts";
import { fillItems, gettingFromStore, gettingItem, MEASURED_KEY, settingInStore, settingItem } from "../state-items.ts";

/** State on a Redis server. Raw is a SET, which asks nobody whether it may, and a GET. Ours writes under the last etag. */
export const redisStateBackend: Backend = {
  name: "redis-state",
  jobs: { "state-set": (context) => stateJob(context, sets), "state-get": (context) => stateJob(context, gets) },
};

async function stateJob(
  { sizes }: JobContext,
  contendersAt: (place: RedisPlace, store: RedisStateStore) => Promise<Operation[]>,
): Promise<OpenJob> {
  const place = await openRedis();
  const store = new RedisStateStore({ url: place.url }, { keyPrefix: place.prefix });
  await fillItems(sizes.items, (key, text) => place.client.set(rawKey(place, key), text));
  await fillItems(sizes.items, (key, text) => store.create(key, text));
  return {
    contenders: (await contendersAt(place, store)).map(place.counted),
    async close() {
      await store.close();
      await place.close();
    },
  };
}

async function sets(place: RedisPlace, store: RedisStateStore): Promise<Operation[]> {
  const key = rawKey(place, MEASURED_KEY);
  return [settingItem("raw", (text) => place.client.set(key, text)), await settingInStore(store)];
}

async function gets(place: RedisPlace, store: RedisStateStore): Promise<Operation[]> {
  const key = rawKey(place, MEASURED_KEY);
  return [gettingItem("raw", () => place.client.get(key)), gettingFromStore(store)];
}

function rawKey({ prefix }: RedisPlace, key: string): string {
  return `${prefix}-raw-${key}`;
}
