import { randomUUID } from "node:crypto";
import { Cluster, Redis } from "ioredis";
import { inject, onTestFinished } from "vitest";
import { RedisHistoryStore, type RedisHistoryStoreOptions } from "../../src/index.ts";

/** A key prefix that no other test has. */
export function freshPrefix(): string {
  return `test-${randomUUID()}`;
}

/** A client of the test's own, which ends with it. */
export function client(url: string = inject("redisUrl")): Redis {
  const redis = new Redis(url);
  onTestFinished(() => redis.disconnect());
  return redis;
}

/** A client of the cluster. */
export function clusterClient(): Cluster {
  const nodes = inject("redisClusterUrls").map((url) => ({
    host: new URL(url).hostname,
    port: Number(new URL(url).port),
  }));
  return new Cluster(nodes);
}

/** A store on keys of its own. */
export function openStore(options: RedisHistoryStoreOptions & { url?: string } = {}): RedisHistoryStore {
  const { url = inject("redisUrl"), ...rest } = options;
  const store = new RedisHistoryStore({ url }, { keyPrefix: freshPrefix(), ...rest });
  onTestFinished(() => store.close());
  return store;
}
