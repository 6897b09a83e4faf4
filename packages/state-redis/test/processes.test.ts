import { AgentSession, SessionStore, type StateStore } from "@agentfw/core";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { RedisStateStore } from "../src/index.ts";
import { prepareChildren } from "./support/processes.ts";
import { keysBelow, openClient, pause } from "./support/redis.ts";
import { freshPrefix, openCluster } from "./support/stores.ts";

const OWNER = { owner: "alice" };

/** The one node, or the cluster. */
function openOn(kind: "node" | "cluster") {
  const keyPrefix = freshPrefix();
  const client = kind === "node" ? openClient() : openCluster();
  onTestFinished(() => client.disconnect());
  const urls = kind === "node" ? [inject("redisUrl")] : inject("redisClusterUrls");
  return { keyPrefix, urls, store: new RedisStateStore({ client }, { keyPrefix }) };
}

async function listAll(store: StateStore, tags?: Record<string, string>): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.listKeys({ tags, cursor, limit: 500 });
    found.push(...page.keys.map(({ key }) => key));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

describe("processes that update one session", () => {
  test.each(["node", "cluster"] as const)("lose no update (%s)", { timeout: 120_000 }, async (kind) => {
    const { keyPrefix, urls, store } = openOn(kind);
    const sessions = new SessionStore(store);
    await sessions.save(new AgentSession({ sessionId: "shared", ...OWNER, state: { count: 0 } }));
    const start = await prepareChildren();
    const children = ["left", "right"].map((name) => start({ job: "increment", keyPrefix, urls, name, times: 150 }));
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0]);
    expect((await sessions.load("shared", OWNER))?.state).toEqual({ count: 300 });
  });

  test("and are killed leave each update whole or undone", { timeout: 120_000 }, async () => {
    const { keyPrefix, urls, store } = openOn("node");
    const sessions = new SessionStore(store);
    await sessions.save(new AgentSession({ sessionId: "shared", ...OWNER, state: { count: 0 } }));
    const start = await prepareChildren();
    const names = ["a", "b", "c", "d"];
    const children = names.map((name) => start({ job: "increment", keyPrefix, urls, name, times: 100_000 }));
    for (const child of children) {
      await child.heard(10);
      await pause(Math.random() * 50);
      child.kill();
    }
    await Promise.all(children.map(({ ended }) => ended));
    const acknowledged = children.reduce((sum, { told }) => sum + told.length, 0);
    const { count } = (await sessions.load("shared", OWNER))?.state ?? {};
    expect(Number(count)).toBeGreaterThanOrEqual(acknowledged);
    expect(Number(count)).toBeLessThanOrEqual(acknowledged + names.length);
  });
});

describe("processes that are killed while they write", () => {
  test("lose nothing that was acknowledged and leave nothing half written", { timeout: 120_000 }, async () => {
    const { keyPrefix, urls, store } = openOn("node");
    const start = await prepareChildren();
    const names = Array.from({ length: 4 }, (_, index) => `writer-${index}`);
    const children = names.map((name) => start({ job: "write", keyPrefix, urls, name, times: 100_000 }));
    await Promise.all(children.map((child) => child.heard(60)));
    for (const child of children) {
      await pause(Math.random() * 60);
      child.kill();
    }
    await Promise.all(children.map(({ ended }) => ended));
    const told = children.flatMap((child) => child.told);
    const listed = await listAll(store);
    expect(new Set(listed).size).toBe(listed.length);
    for (const line of told) {
      const [what, key = ""] = line.split(" ");
      expect(listed.includes(key), line).toBe(what !== "deleted");
    }
    const byWriter = await Promise.all([...names, "all"].map((by) => listAll(store, { by })));
    expect(byWriter.flat().sort()).toEqual([...listed].sort());
    for (const key of listed) {
      const item = await store.get(key);
      const isSecond = item?.tags["by"] === "all";
      expect(item?.text.includes("again"), key).toBe(isSecond);
      if (told.includes(`set ${key}`)) {
        expect(isSecond, key).toBe(true);
      }
    }
    const values = (await keysBelow(openClient(), keyPrefix)).filter((key) => key.includes(":s:"));
    expect(values).toHaveLength(listed.length);
  });
});
