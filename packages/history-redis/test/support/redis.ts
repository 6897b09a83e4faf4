import type { HistoryKey, HistoryRecord } from "@agentfw/core";
import { startRedis } from "@agentfw/test-servers";
import { Redis } from "ioredis";
import { inject, onTestFinished } from "vitest";
import { RedisHistoryStore, type RedisHistoryStoreOptions } from "../../src/index.ts";
import { type ConversationKeys, conversationKeys } from "../../src/keys.ts";
import { freshPrefix } from "./stores.ts";

/** A client of the test's own, which ends with it. */
export function openClient(url: string = inject("redisUrl"), options: object = {}): Redis {
  const client = new Redis(url, { enableReadyCheck: false, ...options });
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

/** A store, and what its test looks at. */
export interface StoreUnderTest {
  readonly store: RedisHistoryStore;
  readonly keyPrefix: string;
  readonly client: Redis;
  keysOf(key: HistoryKey): ConversationKeys;
}

/** A store on keys of its own, and a client that looks at what it stores. */
export function openStore(options: RedisHistoryStoreOptions & { readonly url?: string } = {}): StoreUnderTest {
  const { url = inject("redisUrl"), ...rest } = options;
  const keyPrefix = rest.keyPrefix ?? freshPrefix();
  const store = new RedisHistoryStore({ url }, { ...rest, keyPrefix });
  onTestFinished(() => store.close());
  return {
    store,
    keyPrefix,
    client: openClient(url),
    keysOf: (key) => conversationKeys(keyPrefix, key),
  };
}

/** A conversation of an owner. */
export function conversation(session: string, owner: string | null = "alice"): HistoryKey {
  return { owner, source: "main", session };
}

/** Records with these ids, each with data of its own. */
export function recordsOf(...ids: readonly string[]): HistoryRecord[] {
  return ids.map((id) => ({ id, data: JSON.stringify({ text: `data of ${id}` }) }));
}

/**
 * A store on a server that only the running test has: for what other tests would notice, and for MONITOR, which the
 * driver takes wrongly when others send something in the moment in which it begins.
 */
export async function ownServer(
  options: RedisHistoryStoreOptions = {},
  args: readonly string[] = [],
): Promise<StoreUnderTest> {
  const server = await startRedis({ args });
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
