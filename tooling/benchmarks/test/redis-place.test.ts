import { startRedis } from "@agentfw/test-servers";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { openRedis } from "../src/redis-place.ts";

let url = "";
let client: Redis;
let stop: () => Promise<void>;

beforeAll(async () => {
  const server = await startRedis();
  ({ url, stop } = server);
  client = new Redis(url);
});

afterAll(async () => {
  client.disconnect();
  await stop();
});

afterEach(() => {
  vi.unstubAllEnvs();
});

async function countOf(operation: (redis: Redis, key: string) => unknown): Promise<number | undefined> {
  const place = await openRedis();
  try {
    const key = `${place.prefix}-key`;
    const counted = place.counted({ name: "x", operation: () => operation(place.client, key) });
    return await counted.countRoundTrips?.();
  } finally {
    await place.close();
  }
}

it("counts what the server is asked for, once for a script whatever that asks for", async () => {
  vi.stubEnv("REDIS_URL", url);
  expect(await countOf((redis, key) => redis.rpush(key, "a", "b"))).toBe(1);
  expect(await countOf((redis, key) => Promise.all([redis.rpush(key, "a"), redis.expire(key, 9)]))).toBe(2);
  const script = "redis.call('set', KEYS[1], 'x') return redis.call('get', KEYS[1])";
  expect(await countOf((redis, key) => redis.eval(script, 1, key))).toBe(1);
  expect(await countOf(() => {})).toBe(0);
});

it("leaves nothing on a server that was there before, and takes nothing else away", async () => {
  vi.stubEnv("REDIS_URL", url);
  await client.set("agentfw-benchmarks", "somebody's");
  const place = await openRedis();
  expect(place.url).toBe(url);
  await place.client.set(`${place.prefix}-raw`, "x");
  await place.client.set(`${place.prefix}:1:h`, "x");
  await place.close();
  expect(await client.keys("*")).toEqual(["agentfw-benchmarks"]);
});

it("stands behind a proxy when it is to be far away", async () => {
  vi.stubEnv("REDIS_URL", url);
  const place = await openRedis(20);
  const start = performance.now();
  await place.client.ping();
  expect(performance.now() - start).toBeGreaterThan(30);
  expect(new URL(place.url).port).not.toBe(new URL(url).port);
  await place.close();
});

it("starts a server of its own, and ends it", async () => {
  vi.stubEnv("REDIS_URL", undefined);
  const place = await openRedis();
  expect(place.url).not.toBe(url);
  expect(await place.client.ping()).toBe("PONG");
  await place.close();
  const isThere = async () => {
    const again = new Redis(place.url, { lazyConnect: true, retryStrategy: () => null });
    again.on("error", () => {});
    return again.connect().then(
      () => again.disconnect(),
      () => "gone",
    );
  };
  await expect.poll(isThere, { timeout: 10_000 }).toBe("gone");
});

it("says so when the server that is named cannot be reached", async () => {
  vi.stubEnv("REDIS_URL", "redis://127.0.0.1:1");
  await expect(openRedis()).rejects.toThrow(/^The Redis server cannot be reached: .*ECONNREFUSED/);
});
