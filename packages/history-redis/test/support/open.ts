import type { HistoryKey } from "@agentfw/core";
import type { OpenedHistoryStore, OpenOptions } from "@agentfw/provider-testing";
import { type FaultProxy, startFaultProxy } from "@agentfw/test-servers";
import { Cluster, Redis } from "ioredis";
import { inject, vi } from "vitest";
import { type RedisClient, RedisHistoryStore, type RedisHistoryStoreOptions } from "../../src/index.ts";
import { conversationKeys } from "../../src/keys.ts";
import { freshPrefix } from "./redis.ts";

/** A node as the tests see it: the way to it that stores use and can lose, and one that the test itself uses. */
interface Backend {
  /** Every key under a prefix, wherever it is. */
  keys(pattern: string): Promise<string[]>;
  readonly admin: RedisClient;
  readonly proxies: readonly FaultProxy[];
  connect(): RedisHistoryStore;
  /** A client that a store does not own. */
  shared(): Redis | Cluster;
  close(): Promise<void>;
}

/** Opens a store that connects itself, through a proxy. */
export async function openOnNode(given: OpenOptions = {}): Promise<OpenedHistoryStore> {
  const options = storeOptions(given);
  const url = new URL(inject("redisUrl"));
  const proxy = await startFaultProxy({ host: url.hostname, port: Number(url.port || 6379) });
  const admin = new Redis(url.href);
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${proxy.port}`;
  const backend: Backend = {
    admin,
    proxies: [proxy],
    keys: (pattern) => admin.keys(pattern),
    connect: () => new RedisHistoryStore({ url: proxied.href }, options),
    shared: () => new Redis(url.href),
    async close() {
      admin.disconnect();
      await proxy.close();
    },
  };
  return opened(backend, options);
}

/** Opens a store over a client of the cluster, each of whose nodes is behind a proxy. */
export async function openOnCluster(given: OpenOptions = {}): Promise<OpenedHistoryStore> {
  const options = storeOptions(given);
  const nodes = inject("redisClusterUrls").map((url) => ({
    host: new URL(url).hostname,
    port: Number(new URL(url).port),
  }));
  const proxies = await Promise.all(nodes.map((node) => startFaultProxy(node)));
  const natMap = Object.fromEntries(
    nodes.map(({ host, port }, index) => [`${host}:${port}`, { host: "127.0.0.1", port: proxies[index]?.port ?? 0 }]),
  );
  const clients = new Set<Cluster>();
  const connect = (): Cluster => {
    const cluster = new Cluster(
      proxies.map(({ port }) => ({ host: "127.0.0.1", port })),
      { natMap },
    );
    cluster.on("error", () => {});
    clients.add(cluster);
    return cluster;
  };
  const admin = new Cluster(nodes);
  const backend: Backend = {
    admin,
    proxies,
    keys: async (pattern) => (await Promise.all(admin.nodes("master").map((node) => node.keys(pattern)))).flat(),
    connect: () => new RedisHistoryStore({ client: connect() }, options),
    shared: () => connect(),
    async close() {
      for (const cluster of [...clients, admin]) {
        cluster.disconnect();
      }
      await Promise.all(proxies.map((proxy) => proxy.close()));
    },
  };
  return opened(backend, options);
}

function storeOptions(given: OpenOptions): RedisHistoryStoreOptions & { keyPrefix: string } {
  // The kit stores a record at the limit only where the limit is small.
  return { maxRecordBytes: 4_000_000, ...given, keyPrefix: freshPrefix() };
}

function opened(backend: Backend, options: RedisHistoryStoreOptions & { keyPrefix: string }): OpenedHistoryStore {
  const { proxies, admin } = backend;
  const stores = [connectOrClose(backend)];
  const sharedClients: (Redis | Cluster)[] = [];
  return {
    store: stores[0]!,
    async another() {
      const store = backend.connect();
      stores.push(store);
      return store;
    },
    async close() {
      vi.useRealTimers();
      await Promise.all(stores.map((store) => store.close()));
      for (const one of sharedClients) {
        one.disconnect();
      }
      await backend.close();
    },
    corrupt: async (key, position) => {
      await admin.call("lset", [recordsKey(options.keyPrefix, key), position, "no record at all"]);
    },
    async breakBackend() {
      await Promise.all(proxies.map((proxy) => proxy.refuse()));
    },
    async stallBackend() {
      for (const proxy of proxies) {
        proxy.blackhole();
      }
    },
    async healBackend() {
      await Promise.all(proxies.map((proxy) => proxy.pass()));
    },
    advanceTime: (milliseconds) => advance(backend, options.keyPrefix, milliseconds),
    async sharedClient() {
      const shared = backend.shared();
      sharedClients.push(shared);
      return {
        store: new RedisHistoryStore({ client: shared }, options),
        isClientOpen: async () => (await shared.ping()) === "PONG",
      };
    },
  };
}

/** Bad options must not leave a proxy and a client behind. */
function connectOrClose(backend: Backend): RedisHistoryStore {
  try {
    return backend.connect();
  } catch (error) {
    void backend.close();
    throw error;
  }
}

function recordsKey(prefix: string, key: HistoryKey): string {
  return conversationKeys(prefix, key).records;
}

/**
 * Lets time pass here and for everything under a prefix: each key's end comes closer by as much, and so do the ends that the
 * index of expiries notes.
 */
async function advance({ keys, admin }: Backend, prefix: string, milliseconds: number): Promise<void> {
  // Only the date: the driver's timers go on.
  vi.setSystemTime(Date.now() + milliseconds);
  for (const key of await keys(`${prefix}:*`)) {
    const left = Number(await admin.call("pttl", [key]));
    if (key.startsWith(`${prefix}:1:e:`)) {
      const entries = await admin.call("zrange", [key, 0, -1, "withscores"]);
      const flat = Array.isArray(entries) ? entries.flat() : [];
      for (let at = 0; at < flat.length; at += 2) {
        await admin.call("zadd", [key, Number(flat[at + 1]) - milliseconds, flat[at]]);
      }
    }
    if (left > 0) {
      // A time that has passed removes the key.
      await admin.call("pexpire", [key, left - milliseconds]);
    }
  }
}
