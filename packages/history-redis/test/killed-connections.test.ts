import { describe, expect, test } from "vitest";
import type { RedisHistoryStore } from "../src/index.ts";
import { openFaulty } from "./support/faults.ts";
import { conversation, ownServer, pause, recordsOf } from "./support/redis.ts";
import type { Connected } from "./support/stores.ts";
import { expectWholeTurns } from "./support/turns.ts";

const KEY = conversation("s");
const EVERYWHERE: readonly Connected[] = ["url", "ioredis 6", "ioredis 5", "cluster"];

describe("connections that are killed while turns are stored", () => {
  test.each(EVERYWHERE)("lose nothing acknowledged, store nothing twice or by half (%s)", async (connected) => {
    const { store, direct, proxies } = await openFaulty(connected, { timeoutMs: 20_000 });
    await store.append(KEY, recordsOf("first"));
    let isOver = false;
    const [acknowledged, unknown, refused] = [new Set<string>(), new Set<string>(), new Set<string>()];
    const outcomes = new Map([
      ["ok", acknowledged],
      ["outcome_unknown", unknown],
      // A cluster's driver that has lost all nodes at once may refuse to send.
      ...(connected === "cluster" ? ([["unavailable", refused]] as const) : []),
    ]);
    const write = async (writer: string, by: RedisHistoryStore) => {
      for (let turn = 0; turn < 60; turn += 1) {
        const id = `${writer}-${turn}`;
        const code = await by.append(KEY, recordsOf(`${id}/user`, `${id}/assistant`)).then(
          () => "ok",
          (error) => error.code,
        );
        expect([...outcomes.keys()]).toContain(code);
        outcomes.get(code)?.add(id);
      }
    };
    const kill = async () => {
      for (let kills = 0; !isOver || kills < 20; kills += 1) {
        await pause(Math.random() * 40);
        for (const proxy of proxies) {
          proxy.killConnections();
        }
      }
    };
    const killing = kill();
    await Promise.all(["a", "b", "c"].map((writer) => write(writer, writer === "c" ? direct : store)));
    isOver = true;
    await killing;
    const ids = (await direct.read(KEY)).records.map(({ id }) => id);
    expectWholeTurns(ids.slice(1));
    for (const id of acknowledged) {
      expect(ids).toContain(`${id}/user`);
    }
    for (const id of refused) {
      expect(ids).not.toContain(`${id}/user`);
    }
    expect(acknowledged.size + unknown.size + refused.size).toBe(180);
    expect(acknowledged.size).toBeGreaterThan(100);
  });

  test("by the server, a hundred times, lose nothing and store nothing twice", async () => {
    const { store, client } = await ownServer();
    await store.append(KEY, recordsOf("first"));
    let kills = 0;
    let turns = 0;
    while (kills < 100) {
      const id = /id=(\d+) .*cmd=evalsha/.exec(String(await client.client("LIST")))?.[1];
      const calls = ["a", "b"].map((name) => {
        const turn = `${turns}${name}`;
        return store.append(KEY, recordsOf(`${turn}/user`, `${turn}/assistant`));
      });
      if (id !== undefined) {
        await client.client("KILL", "ID", id).then(
          () => {
            kills += 1;
          },
          () => undefined,
        );
      }
      await Promise.all(calls);
      turns += 1;
    }
    const ids = (await store.read(KEY)).records.map(({ id }) => id).slice(1);
    expect(ids).toHaveLength(turns * 4);
    expectWholeTurns(ids);
  });
});
