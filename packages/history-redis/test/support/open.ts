import type { OpenedHistoryStore, OpenOptions } from "@agentfw/provider-testing";
import { faultHooks } from "@agentfw/test-servers";
import { Cluster } from "ioredis";
import { vi } from "vitest";
import { type RedisClient, RedisHistoryStore } from "../../src/index.ts";
import { conversationKeys } from "../../src/keys.ts";
import {
  type Connected,
  type ConnectedStore,
  connectStore,
  freshPrefix,
  openCluster,
  openNode,
  startProxies,
} from "./stores.ts";

/** What the kit opens its stores with. */
export function opener(connected: Connected): (options?: OpenOptions) => Promise<OpenedHistoryStore> {
  return async (given = {}) => {
    // The kit stores a record at the limit only where the limit is small.
    const options = { maxRecordBytes: 4_000_000, ...given, keyPrefix: freshPrefix() };
    const proxies = await startProxies(connected);
    const admin = connected === "cluster" ? openCluster() : openNode();
    const opened: ConnectedStore[] = [];
    const close = async () => {
      vi.useRealTimers();
      await Promise.all(opened.map(({ stop }) => stop()));
      admin.disconnect();
      await Promise.all(proxies.map((proxy) => proxy.close()));
    };
    const open = () => {
      const one = connectStore(connected, proxies, options);
      opened.push(one);
      return one.store;
    };
    const first = await Promise.resolve()
      .then(open)
      .catch(async (error: unknown) => {
        // Options that are refused must leave nothing open.
        await close();
        throw error;
      });
    return {
      store: first,
      another: async () => open(),
      ...faultHooks(proxies),
      corrupt: async (key, position) => {
        await admin.call("lset", [conversationKeys(options.keyPrefix, key).records, position, "no record at all"]);
      },
      advanceTime: (milliseconds) => advance(admin, options.keyPrefix, milliseconds),
      sharedClient: async () => {
        const client = connected === "cluster" ? openCluster() : openNode();
        const store = new RedisHistoryStore({ client }, options);
        opened.push({ store, stop: async () => client.disconnect() });
        return { store, isClientOpen: async () => (await client.ping()) === "PONG" };
      },
      close,
    };
  };
}

type Admin = ReturnType<typeof openNode> | Cluster;

/** Every key below a prefix, wherever it is. */
async function allKeys(admin: Admin, prefix: string): Promise<string[]> {
  const nodes = admin instanceof Cluster ? admin.nodes("master") : [admin];
  return (await Promise.all(nodes.map((node) => node.keys(`${prefix}:*`)))).flat();
}

/**
 * Lets time pass, here and for everything under a prefix: each key's end comes closer by as much, and so do the ends
 * that the index of expiries notes.
 */
export async function advance(admin: Admin, prefix: string, milliseconds: number): Promise<void> {
  // Only the date: the driver's timers go on.
  vi.setSystemTime(Date.now() + milliseconds);
  for (const key of await allKeys(admin, prefix)) {
    const left = Number(await admin.call("pttl", [key]));
    if (key.startsWith(`${prefix}:1:e:`)) {
      await shiftScores(admin, key, milliseconds);
    }
    if (left > 0) {
      // A time that has passed removes the key.
      await admin.call("pexpire", [key, left - milliseconds]);
    }
  }
}

async function shiftScores(admin: RedisClient, key: string, milliseconds: number): Promise<void> {
  const entries = await admin.call("zrange", [key, 0, -1, "withscores"]);
  const flat = Array.isArray(entries) ? entries.flat() : [];
  for (let at = 0; at < flat.length; at += 2) {
    await admin.call("zadd", [key, Number(flat[at + 1]) - milliseconds, flat[at]]);
  }
}
