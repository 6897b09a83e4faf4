import { randomUUID } from "node:crypto";
import { HistoryProvider } from "@agentfw/core";
import { RedisHistoryStore } from "@agentfw/history-redis";
import { type RedisServer, startFaultProxy, startRedis } from "@agentfw/test-servers";
import { Redis } from "ioredis";
import { BenchmarkError } from "./errors.ts";
import { LOADED_MESSAGES, type Operation } from "./measurement.ts";
import type { PeerPlace } from "./peers.ts";

/** A Redis server for one job, and a place of the job's own on it. */
export interface RedisPlace extends PeerPlace {
  /** A connection for what is done by hand. */
  readonly client: Redis;
  /** Lets the commands be counted that the server is sent for one operation. */
  counted(operation: Operation): Operation;
  /** Removes what is stored in the place, and ends a server that was started. */
  close(): Promise<void>;
}

/** Starts a server, or goes to the one that `REDIS_URL` names; each way to it takes `latencyMs` longer. */
export async function openRedis(latencyMs = 0): Promise<RedisPlace> {
  const given = process.env["REDIS_URL"];
  const server = given === undefined ? await startServer() : undefined;
  const nearUrl = given ?? server?.url ?? "";
  const near = await connect(nearUrl);
  const { url, stop } = await behindProxy(nearUrl, latencyMs);
  const client = latencyMs === 0 ? near : await connect(url);
  const prefix = `agentfw-benchmarks-${randomUUID()}`;
  return {
    url,
    prefix,
    client,
    counted: (operation) => ({ ...operation, countRoundTrips: () => countCommands(near, operation) }),
    async close() {
      await removeAll(near, prefix);
      near.disconnect();
      client.disconnect();
      await stop();
      // Not waited for: it goes by itself, also when this process ends before.
      void server?.stop();
    },
  };
}

/** Our store on such a place, with everything that an append can be asked to do but trimming. */
export function openRedisStore({ url, prefix }: PeerPlace): { store: RedisHistoryStore; provider: HistoryProvider } {
  const store = new RedisHistoryStore({ url }, { keyPrefix: prefix, ttlSeconds: 3600 });
  return { store, provider: new HistoryProvider(store, { maxMessages: LOADED_MESSAGES }) };
}

async function startServer(): Promise<RedisServer> {
  try {
    return await startRedis();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BenchmarkError(`No Redis server could be started: ${reason}`, { cause });
  }
}

async function connect(url: string): Promise<Redis> {
  const client = new Redis(url, { lazyConnect: true, connectTimeout: 5000, retryStrategy: () => null });
  let problem: unknown;
  client.on("error", (error) => {
    problem = error;
  });
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.disconnect();
    const cause = problem ?? error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BenchmarkError(`The Redis server cannot be reached: ${reason}`, { cause });
  }
}

async function behindProxy(url: string, latencyMs: number): Promise<{ url: string; stop(): Promise<void> }> {
  if (latencyMs === 0) {
    return { url, stop: async () => {} };
  }
  const { hostname, port } = new URL(url);
  const proxy = await startFaultProxy({ host: hostname, port: Number(port || 6379) });
  proxy.setLatency(latencyMs);
  const far = new URL(url);
  far.host = `127.0.0.1:${proxy.port}`;
  return { url: far.href, stop: () => proxy.close() };
}

/** What a server says it is asked while an operation runs, without what its scripts ask. Nobody else may use it. */
async function countCommands(client: Redis, { operation }: Operation): Promise<number> {
  const monitor = await client.monitor();
  try {
    const marker = randomUUID();
    let commands = 0;
    const isMarkerSeen = new Promise<void>((resolve) => {
      monitor.on("monitor", (_time: unknown, [, argument]: readonly string[], source: string) => {
        if (argument === marker) {
          resolve();
        } else if (source !== "lua") {
          commands += 1;
        }
      });
    });
    await operation();
    await client.echo(marker);
    await isMarkerSeen;
    return commands;
  } finally {
    monitor.disconnect();
  }
}

async function removeAll(client: Redis, prefix: string): Promise<void> {
  for await (const keys of client.scanStream({ match: `${prefix}*`, count: 1000 })) {
    if (Array.isArray(keys) && keys.length > 0) {
      await client.unlink(...keys.map(String));
    }
  }
}
