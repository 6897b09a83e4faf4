import { Redis } from "ioredis";
import { baseArguments, redisBinary } from "./redis.ts";
import { startServerProcess } from "./server-process.ts";

/** A Redis Cluster of masters without replicas. */
export interface RedisCluster {
  /** One URL for each master. */
  readonly urls: readonly string[];
  readonly ports: readonly number[];
  stop(): Promise<void>;
}

const SLOTS = 16_384;
const POLL_MS = 20;
const FORM_TIMEOUT_MS = 30_000;

/** Starts a Redis Cluster and waits until every node says that it is complete, which takes Redis two seconds. */
export async function startRedisCluster(masters = 3): Promise<RedisCluster> {
  const nodes = await startNodes(masters);
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  const clients = nodes.map(({ ports: [port = 0] }) => new Redis(port, "127.0.0.1"));
  try {
    await form(
      clients,
      nodes.map(({ ports: [port = 0, busPort = 0] }) => ({ port, busPort })),
    );
  } catch (error) {
    await stop();
    throw error;
  } finally {
    for (const client of clients) {
      client.disconnect();
    }
  }
  const ports = nodes.map(({ ports: [port = 0] }) => port);
  return { ports, urls: ports.map((port) => `redis://127.0.0.1:${port}`), stop };
}

async function startNodes(count: number) {
  const binary = await redisBinary();
  const started = await Promise.allSettled(
    Array.from({ length: count }, () =>
      startServerProcess({
        name: "redis-cluster",
        binary,
        ports: 2,
        readyText: "Ready to accept connections",
        arguments: ([port = 0, busPort = 0], directory) => [
          ...baseArguments(port, directory),
          ...["--cluster-enabled", "yes", "--cluster-port", String(busPort), "--cluster-config-file", "nodes.conf"],
          ...["--cluster-node-timeout", "5000"],
        ],
      }),
    ),
  );
  const nodes = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const failed = started.find((result) => result.status === "rejected");
  if (failed !== undefined) {
    await Promise.all(nodes.map((node) => node.stop()));
    throw failed.reason;
  }
  return nodes;
}

async function form(clients: readonly Redis[], nodes: readonly { port: number; busPort: number }[]): Promise<void> {
  const share = Math.ceil(SLOTS / clients.length);
  await Promise.all(
    clients.map(async (client, index) => {
      const first = index * share;
      await client.call("cluster", ["addslotsrange", first, Math.min(SLOTS, first + share) - 1]);
      // Nodes that meet with equal epochs would have to sort that out first.
      await client.call("cluster", ["set-config-epoch", index + 1]);
    }),
  );
  for (const { port, busPort } of nodes.slice(1)) {
    await clients[0]?.call("cluster", ["meet", "127.0.0.1", port, busPort]);
  }
  const deadline = Date.now() + FORM_TIMEOUT_MS;
  while (!(await isComplete(clients))) {
    if (Date.now() > deadline) {
      throw new Error(`the Redis Cluster was not complete after ${FORM_TIMEOUT_MS} ms`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function isComplete(clients: readonly Redis[]): Promise<boolean> {
  const answers = await Promise.all(clients.map((client) => client.call("cluster", ["info"])));
  return answers.every(
    (text) =>
      typeof text === "string" &&
      text.includes("cluster_state:ok") &&
      text.includes(`cluster_known_nodes:${clients.length}`),
  );
}
