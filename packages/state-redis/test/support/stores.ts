import { randomUUID } from "node:crypto";
import type { OpenedStateStore, OpenOptions } from "@agentfw/provider-testing";
import { type FaultProxy, faultHooks, startFaultProxy } from "@agentfw/test-servers";
import { Cluster, Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis-5";
import { inject } from "vitest";
import { RedisStateStore, type RedisStateStoreOptions } from "../../src/index.ts";

/** A key prefix that no other test has. */
export function freshPrefix(): string {
  return `test:${randomUUID()}`;
}

export function nodePort(): number {
  return Number(new URL(inject("redisUrl")).port || 6379);
}

export function clusterPorts(): number[] {
  return inject("redisClusterUrls").map((url) => Number(new URL(url).port));
}

/** A client of ioredis 6 with all its defaults. */
export function openNode(port: number = nodePort()): Redis {
  const client = new Redis(port, "127.0.0.1");
  // The driver prints errors that nobody listens to.
  client.on("error", () => {});
  return client;
}

/** A client of ioredis 5 with all its defaults. */
export function openNode5(port: number): Redis5 {
  const client = new Redis5(port, "127.0.0.1");
  client.on("error", () => {});
  return client;
}

/** A client for the cluster; with proxies it reaches the masters only through them, in their order. */
export function openCluster(proxies?: readonly FaultProxy[]): Cluster {
  const urls = inject("redisClusterUrls").map((url) => new URL(url));
  const nodes = urls.map(({ hostname, port }, index) => ({
    host: hostname,
    port: proxies?.[index]?.port ?? Number(port),
  }));
  const natMap = Object.fromEntries(urls.map(({ host }, index) => [host, nodes[index] ?? { host, port: 0 }]));
  // The driver's own limit of 16 is a second and a half, and a busy machine may take longer to come back.
  const client = new Cluster(nodes, { natMap, maxRedirections: 100 });
  client.on("error", () => {});
  return client;
}

/** A store and how to end it. */
export interface ConnectedStore {
  readonly store: RedisStateStore;
  stop(): Promise<void>;
}

/** How a store reaches its servers. */
export type Connected = "url" | "ioredis 6" | "ioredis 5" | "cluster";

/** Connects a store through proxies: the first one, or those before each master of the cluster. */
export function connectStore(
  connected: Connected,
  proxies: readonly FaultProxy[],
  options: RedisStateStoreOptions,
): ConnectedStore {
  const port = proxies[0]?.port ?? 0;
  if (connected === "url") {
    const store = new RedisStateStore({ url: `redis://127.0.0.1:${port}` }, options);
    return { store, stop: () => store.close() };
  }
  const clients = { "ioredis 6": openNode, "ioredis 5": openNode5, cluster: () => openCluster(proxies) };
  const client = clients[connected](port);
  return { store: new RedisStateStore({ client }, options), stop: async () => client.disconnect() };
}

/** A proxy before every server that the store talks to. */
export function startProxies(connected: Connected): Promise<FaultProxy[]> {
  const ports = connected === "cluster" ? clusterPorts() : [nodePort()];
  return Promise.all(ports.map((port) => startFaultProxy({ port })));
}

/** The hook that no server of ours has. */
export const passingTime = {
  advanceTime: "the server's own clock decides what has expired, so time passes in earnest",
} as const;

/** What the kit opens its stores with. */
export function opener(connected: Connected): (options?: OpenOptions) => Promise<OpenedStateStore> {
  return async (options = {}) => {
    const keyPrefix = freshPrefix();
    const proxies = await startProxies(connected);
    const opened: ConnectedStore[] = [];
    const open = () => {
      const one = connectStore(connected, proxies, { ...options, keyPrefix });
      opened.push(one);
      return one.store;
    };
    return {
      store: open(),
      another: async () => open(),
      ...faultHooks(proxies),
      sharedClient: async () => {
        const client = connected === "cluster" ? openCluster() : openNode();
        const store = new RedisStateStore({ client }, { keyPrefix });
        opened.push({ store, stop: async () => client.disconnect() });
        return { store, isClientOpen: async () => (await client.ping()) === "PONG" };
      },
      close: async () => {
        await Promise.all(opened.map(({ stop }) => stop()));
        await Promise.all(proxies.map((proxy) => proxy.close()));
      },
    };
  };
}
