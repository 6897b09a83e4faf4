import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { type RedisServer, redisBinary, startRedis } from "./redis.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

/** A master, a replica of it, and one Sentinel that makes the replica the master when the master is gone. */
export interface RedisSentinel {
  /** What Sentinel calls the master. */
  readonly name: string;
  readonly sentinelPort: number;
  readonly master: RedisServer;
  readonly replica: RedisServer;
  stop(): Promise<void>;
}

const NAME = "agentfw";
const POLL_MS = 20;
const LINK_TIMEOUT_MS = 30_000;

/** Starts the three, and waits until the replica follows and Sentinel knows it. A master that is silent for half a second is down. */
export async function startRedisSentinel(): Promise<RedisSentinel> {
  const started: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    await Promise.all(started.map((server) => server.stop()));
  };
  const keep = <Server extends { stop(): Promise<void> }>(server: Server): Server => {
    started.push(server);
    return server;
  };
  try {
    const master = keep(await startRedis());
    // The replica fetches everything at once, instead of after the five seconds in which more could ask.
    const args = ["--replicaof", "127.0.0.1", String(master.port), "--repl-diskless-sync-delay", "0"];
    const replica = keep(await startRedis({ args }));
    const sentinel = keep(await startSentinel(master.port));
    const sentinelPort = sentinel.ports[0] ?? 0;
    await until(replica.port, async (redis) => (await redis.info("replication")).includes("master_link_status:up"));
    await until(sentinelPort, async (redis) =>
      JSON.stringify(await redis.call("sentinel", ["replicas", NAME])).includes(String(replica.port)),
    );
    return { name: NAME, sentinelPort, master, replica, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startSentinel(masterPort: number): Promise<ServerProcess> {
  return startServerProcess({
    name: "redis-sentinel",
    binary: await redisBinary(),
    readyText: "Sentinel ID is",
    arguments: ([port = 0], directory) => {
      const lines = [
        `port ${port}`,
        "bind 127.0.0.1",
        `dir ${directory}`,
        `sentinel monitor ${NAME} 127.0.0.1 ${masterPort} 1`,
        `sentinel down-after-milliseconds ${NAME} 500`,
        `sentinel failover-timeout ${NAME} 5000`,
      ];
      // Sentinel keeps what it learns in its own configuration.
      const path = join(directory, "sentinel.conf");
      writeFileSync(path, `${lines.join("\n")}\n`);
      return [path, "--sentinel"];
    },
  });
}

async function until(port: number, holds: (redis: Redis) => Promise<boolean>): Promise<void> {
  const redis = new Redis(port, "127.0.0.1");
  const end = Date.now() + LINK_TIMEOUT_MS;
  try {
    while (!(await holds(redis))) {
      if (Date.now() > end) {
        throw new Error(`the Redis on port ${port} did not become what it should be in ${LINK_TIMEOUT_MS} ms`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    redis.disconnect();
  }
}
