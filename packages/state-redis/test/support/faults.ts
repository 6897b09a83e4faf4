import type { FaultProxy } from "@agentfw/test-servers";
import { onTestFinished } from "vitest";
import { RedisStateStore, type RedisStateStoreOptions } from "../../src/index.ts";
import { pause } from "./redis.ts";
import { type Connected, connectStore, freshPrefix, openCluster, openNode, startProxies } from "./stores.ts";

/** A store behind proxies, and one on the same data that no fault reaches. */
export interface FaultyStore {
  readonly store: RedisStateStore;
  readonly direct: RedisStateStore;
  readonly proxies: readonly FaultProxy[];
}

/**
 * Opens both for the running test. Unless it is cold, the store has its connection then: how long the first one takes is no fault, and short
 * time limits of a test are for faults.
 */
export async function openFaulty(
  connected: Connected,
  options: RedisStateStoreOptions & { readonly isCold?: boolean } = {},
): Promise<FaultyStore> {
  const { isCold = false, ...rest } = options;
  const keyPrefix = freshPrefix();
  const proxies = await startProxies(connected);
  const { store, stop } = connectStore(connected, proxies, { ...rest, keyPrefix });
  const client = connected === "cluster" ? openCluster() : openNode();
  onTestFinished(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await stop();
    client.disconnect();
  });
  await until(() => isCold || isReached(store));
  return { store, direct: new RedisStateStore({ client }, { keyPrefix }), proxies };
}

function isReached(store: RedisStateStore): Promise<boolean> {
  return store.get("first").then(
    () => true,
    () => false,
  );
}

/** Waits until something holds. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) {
    await pause(2);
  }
}

/**
 * Makes one call whose answer is lost after the server carried it out, and keeps the connection down while `meanwhile`
 * runs.
 */
export async function withLostAnswer<T>(
  { proxies }: FaultyStore,
  call: () => Promise<T>,
  isCarriedOut: () => Promise<boolean>,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<T> {
  for (const proxy of proxies) {
    // The answer is under way for so long, and never arrives.
    proxy.setLatency(200);
  }
  const pending = call();
  pending.catch(() => undefined);
  await until(isCarriedOut);
  await Promise.all(proxies.map((proxy) => proxy.refuse()));
  await meanwhile();
  for (const proxy of proxies) {
    proxy.setLatency(0);
  }
  await Promise.all(proxies.map((proxy) => proxy.pass()));
  return pending;
}
