import { startRedis } from "@agentfw/test-servers";
import { Redis } from "ioredis";
import { inject, onTestFinished } from "vitest";
import { RedisStateStore, type RedisStateStoreOptions } from "../../src/index.ts";
import { type ItemKeys, itemKeys, storedName } from "../../src/names.ts";
import { freshPrefix } from "./stores.ts";

/** A client of the test's own, which ends with it. */
export function openClient(url: string = inject("redisUrl"), options: object = {}): Redis {
  const client = new Redis(url, options);
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

/** A store, and what its test looks at. */
export interface StoreUnderTest {
  readonly store: RedisStateStore;
  readonly keyPrefix: string;
  readonly client: Redis;
  keysOf(key: string, owner?: string | null): ItemKeys;
}

/** A store on keys of its own, and a client that looks at what it stores. */
export function openStore(options: RedisStateStoreOptions & { readonly url?: string } = {}): StoreUnderTest {
  const { url = inject("redisUrl"), ...rest } = options;
  const keyPrefix = rest.keyPrefix ?? freshPrefix();
  const store = new RedisStateStore({ url }, { ...rest, keyPrefix });
  onTestFinished(() => store.close());
  return {
    store,
    keyPrefix,
    client: openClient(url),
    keysOf: (key, owner = null) => itemKeys(keyPrefix, owner, storedName(key)),
  };
}

/**
 * A store on a server that only the running test has. What MONITOR shows of a busy server can come before its own answer,
 * and a script that one test makes a server forget would be missed by others.
 */
export async function ownServer(options: RedisStateStoreOptions = {}): Promise<StoreUnderTest> {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  return openStore({ url: server.url, ...options });
}

/** Every key below a prefix, sorted. */
export async function keysBelow(client: Redis, prefix: string): Promise<string[]> {
  return (await client.keys(`${prefix}:*`)).sort();
}

/** What a call rejects with; fails when it resolves. */
export async function rejection(call: Promise<unknown>): Promise<unknown> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in outcome) {
    return outcome.error;
  }
  throw new Error(`resolved with ${JSON.stringify(outcome.value)}`);
}

/** The code of what a call rejects with. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await rejection(call);
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
