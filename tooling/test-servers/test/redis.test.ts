import { existsSync } from "node:fs";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { startRedis, startRedisCluster } from "../src/index.ts";
import { isListening, isRunning } from "./support/waiting.ts";

function client(url: string): Redis {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on("error", () => {});
  onTestFinished(() => redis.disconnect());
  return redis;
}

test("a Redis server answers as soon as it is started, and nothing of it is left when it is stopped", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  expect(await client(server.url).ping()).toBe("PONG");
  expect(existsSync(server.directory)).toBe(true);
  await server.stop();
  await server.stop();
  expect(await isListening(server.port)).toBe(false);
  expect(isRunning(server.pid)).toBe(false);
  expect(existsSync(server.directory)).toBe(false);
});

test("a server with a password has it in its URL and turns others away", async () => {
  const server = await startRedis({ password: "p@ss/word: %" });
  onTestFinished(() => server.stop());
  const admin = client(server.url);
  await admin.acl("SETUSER", "app", "on", ">secret", "~app:*", "+@all");
  expect(await admin.ping()).toBe("PONG");
  const stranger = client(`redis://127.0.0.1:${server.port}`);
  await expect(stranger.get("a")).rejects.toThrow("NOAUTH");
  const user = client(`redis://app:secret@127.0.0.1:${server.port}`);
  expect(await user.set("app:a", "1")).toBe("OK");
  await expect(user.get("other")).rejects.toThrow("NOPERM");
});

test("servers started at once get ports of their own", async () => {
  const servers = await Promise.all(Array.from({ length: 4 }, () => startRedis()));
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });
  expect(new Set(servers.map(({ port }) => port)).size).toBe(4);
  expect(await Promise.all(servers.map(({ url }) => client(url).ping()))).toEqual(["PONG", "PONG", "PONG", "PONG"]);
});

test("a server that does not come up is an error with what it said", async () => {
  await expect(startRedis({ args: ["--no-such-setting", "1"] })).rejects.toThrow(/no-such-setting/);
});

test("a cluster has three masters that cover all slots between them", async () => {
  const cluster = await startRedisCluster();
  onTestFinished(() => cluster.stop());
  const nodes = cluster.urls.map(client);
  const answers = await Promise.all(nodes.map((node) => node.call("cluster", ["info"])));
  for (const answer of answers) {
    expect(answer).toContain("cluster_state:ok");
    expect(answer).toContain("cluster_slots_assigned:16384");
  }
  const stored = await Promise.allSettled(nodes.map((node) => node.set("some key", "1")));
  expect(stored.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await cluster.stop();
  expect(await Promise.all(cluster.ports.map(isListening))).toEqual([false, false, false]);
});
