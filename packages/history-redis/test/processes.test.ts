import { describe, expect, inject, onTestFinished, test } from "vitest";
import { RedisHistoryStore } from "../src/index.ts";
import { prepareChildren } from "./support/processes.ts";
import { conversation, openClient, pause } from "./support/redis.ts";
import { freshPrefix, openCluster } from "./support/stores.ts";
import { expectWholeTurns } from "./support/turns.ts";

/** What the children write to. */
const KEY = conversation("shared");

/** The one node, or the cluster. */
function openOn(kind: "node" | "cluster") {
  const keyPrefix = freshPrefix();
  const client = kind === "node" ? openClient() : openCluster();
  onTestFinished(() => client.disconnect());
  const urls = kind === "node" ? [inject("redisUrl")] : inject("redisClusterUrls");
  return { keyPrefix, urls, store: new RedisHistoryStore({ client }, { keyPrefix }) };
}

async function idsOf(store: RedisHistoryStore): Promise<string[]> {
  return (await store.read(KEY)).records.map(({ id }) => id);
}

describe("two processes that store 50 turns at once in one conversation", () => {
  test.each(["node", "cluster"] as const)("keep 50 of 50 together (%s)", { timeout: 60_000 }, async (kind) => {
    const { keyPrefix, urls, store } = openOn(kind);
    const start = await prepareChildren();
    const children = ["left", "right"].map((name) => start({ keyPrefix, urls, name, times: 25, atOnce: 25 }));
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0]);
    const ids = await idsOf(store);
    expect(ids).toHaveLength(100);
    expectWholeTurns(ids);
  });
});

describe("processes that are killed while they write", () => {
  test.each([undefined, 40])("lose nothing acknowledged and leave no half turn (maxRecords %s)", async (maxRecords) => {
    const { keyPrefix, urls, store } = openOn("node");
    const start = await prepareChildren();
    const names = ["a", "b", "c", "d"];
    const children = names.map((name) =>
      start({
        keyPrefix,
        urls,
        name,
        times: 1_000_000,
        atOnce: 8,
        ...(maxRecords === undefined ? {} : { maxRecords }),
      }),
    );
    await Promise.all(children.map((child) => child.heard(60)));
    for (const child of children) {
      await pause(Math.random() * 60);
      child.kill();
    }
    await Promise.all(children.map(({ ended }) => ended));
    const ids = await idsOf(store);
    expectWholeTurns(ids);
    const told = children.flatMap((child) => child.told);
    expect(told.length).toBeGreaterThan(240);
    if (maxRecords !== undefined) {
      expect(ids).toHaveLength(maxRecords);
      return;
    }
    for (const id of told) {
      expect(ids).toContain(`${id}/user`);
    }
    // At most what was under way when its process was killed was stored without being told.
    expect(ids.length / 2 - told.length).toBeLessThanOrEqual(names.length * 8);
  });
});
