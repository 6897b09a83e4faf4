import { startRedisSentinel } from "@agentfw/test-servers";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { RedisHistoryStore } from "../src/index.ts";
import { conversation, openClient, recordsOf } from "./support/redis.ts";
import { expectWholeTurns } from "./support/turns.ts";

const KEY = conversation("s");

test("behind Sentinel, a failover loses nothing that the replica has, stores nothing twice, and the store goes on", {
  timeout: 90_000,
}, async () => {
  const { name, sentinelPort, master, replica, stop } = await startRedisSentinel();
  onTestFinished(stop);
  const client = new Redis({ sentinels: [{ host: "127.0.0.1", port: sentinelPort }], name, lazyConnect: true });
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  const store = new RedisHistoryStore({ client }, { timeoutMs: 5_000 });
  const turnOf = (turn: number) => recordsOf(`${turn}/user`, `${turn}/assistant`);
  for (let turn = 0; turn < 20; turn += 1) {
    await store.append(KEY, turnOf(turn));
  }
  // Replication is behind by what it is behind: what this many replicas have is what a failover keeps.
  expect(await openClient(master.url).wait(1, 10_000)).toBe(1);
  const failures = new Set<string>();
  await master.stop();
  for (let turn = 20; turn < 60; turn += 1) {
    // A failed append is made again with the same ids, as an application does it.
    for (let isStored = false; !isStored; ) {
      isStored = await store.append(KEY, turnOf(turn)).then(
        () => true,
        (error) => {
          failures.add(error.code);
          return false;
        },
      );
    }
  }
  expect(["unavailable", "timeout", "outcome_unknown"]).toEqual(expect.arrayContaining([...failures]));
  const ids = (await store.read(KEY)).records.map(({ id }) => id);
  expectWholeTurns(ids);
  expect(ids).toEqual(Array.from({ length: 60 }, (_, turn) => [`${turn}/user`, `${turn}/assistant`]).flat());
  expect((await openClient(replica.url).role())[0]).toBe("master");
});
