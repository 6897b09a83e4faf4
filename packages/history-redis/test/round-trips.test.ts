import { describe, expect, test } from "vitest";
import { RedisHistoryStore } from "../src/index.ts";
import { type Monitored, monitor } from "./support/monitor.ts";
import { conversation, openClient, openStore, ownServer, recordsOf } from "./support/redis.ts";
import { freshPrefix } from "./support/stores.ts";
import { expectWholeTurns } from "./support/turns.ts";

const KEY = conversation("s");

function commandsOf(commands: Monitored["sent"]): string[] {
  return commands.map(([command = ""]) => command.toLowerCase());
}

describe("round trips", () => {
  test("are one for each append, read, clear and replace", async () => {
    const { store, client, keyPrefix } = await ownServer({ ttlSeconds: 60, maxRecords: 50 });
    await store.append(KEY, recordsOf("1", "2", "3"));
    const { older } = await store.read(KEY, { last: 1, withFirst: true });
    await store.replace(KEY, { fromId: "3", throughId: "3" }, recordsOf("3"));
    await store.clear(conversation("other"));
    const calls: Record<string, [call: () => Promise<unknown>, command: string]> = {
      "append to what is there": [() => store.append(KEY, recordsOf("4", "5")), "evalsha"],
      "append to a new conversation": [() => store.append(conversation("new"), recordsOf("1", "2")), "evalsha"],
      "repeated append": [() => store.append(KEY, recordsOf("4", "5")), "evalsha"],
      "append that is partly there": [() => store.append(KEY, recordsOf("5", "6")), "evalsha"],
      "append under an old version": [
        () => store.append(KEY, recordsOf("7"), { ifVersion: "x" }).catch(() => {}),
        "evalsha",
      ],
      "append that trims": [
        () => store.append(KEY, recordsOf(...Array.from({ length: 60 }, (_, at) => `m${at}`))),
        "evalsha",
      ],
      "append of nothing": [() => store.append(KEY, []), "lrange"],
      "read of the newest": [() => store.read(KEY, { last: 20 }), "lrange"],
      "read of all": [() => store.read(KEY), "lrange"],
      "read of nothing": [() => store.read(conversation("unknown")), "lrange"],
      "read of an older page": [() => store.read(KEY, { last: 2, before: older }).catch(() => {}), "evalsha"],
      "read with the first": [() => store.read(KEY, { last: 2, withFirst: true }), "evalsha"],
      replace: [() => store.replace(KEY, { fromId: "m59", throughId: "m59" }, recordsOf("m59")), "evalsha"],
      clear: [() => store.clear(KEY), "evalsha"],
    };
    for (const [name, [call, command]] of Object.entries(calls)) {
      const { sent } = await monitor(client, keyPrefix, call);
      expect(commandsOf(sent), name).toEqual([command]);
    }
  });

  test("are two when the server has forgotten the script, and one from then on", async () => {
    const { store, client, keyPrefix } = await ownServer();
    await store.append(KEY, recordsOf("1"));
    await client.script("FLUSH");
    const first = await monitor(client, keyPrefix, () => store.append(KEY, recordsOf("2")));
    expect(commandsOf(first.sent)).toEqual(["evalsha", "eval"]);
    const second = await monitor(client, keyPrefix, () => store.append(KEY, recordsOf("3")));
    expect(commandsOf(second.sent)).toEqual(["evalsha"]);
    expect((await store.read(KEY)).records).toEqual(recordsOf("1", "2", "3"));
  });

  test("are two where somebody else removed what a store wrote to, and the new conversation is a whole one", async () => {
    const { store, client, keyPrefix, keysOf } = await ownServer({ ttlSeconds: 60 });
    const other = openStore({ url: `redis://127.0.0.1:${client.options.port}`, keyPrefix }).store;
    const removals = [() => other.clear(KEY), () => client.pexpire(keysOf(KEY).records, 0)];
    for (const remove of removals) {
      await store.append(KEY, recordsOf("1", "2"));
      await remove();
      for (const [ids, commands] of [
        [
          ["1", "3"],
          ["evalsha", "evalsha"],
        ],
        [["4"], ["evalsha"]],
      ] as const) {
        const { sent } = await monitor(client, keyPrefix, () => {
          const records = recordsOf(...ids);
          const call = store.append(KEY, records);
          // What is sent the second time is what was checked, whatever the caller does with it meanwhile.
          records.splice(0, 1, ...recordsOf("changed"));
          return call;
        });
        expect(commandsOf(sent)).toEqual(commands);
      }
      expect((await store.read(KEY)).records).toEqual(recordsOf("1", "3", "4"));
      expect((await store.list({ owner: "alice" })).items.map(({ key }) => key)).toEqual([KEY]);
      const { ids, names, expiries } = keysOf(KEY);
      for (const key of [ids, names, expiries]) {
        expect(await client.pttl(key)).toBeGreaterThan(60_000);
      }
      await store.clear(KEY);
    }
  });

  test.each([0, 60])("are one where the store knows that the conversation is gone (ttl %i)", async (ttlSeconds) => {
    const { store, client, keyPrefix } = await ownServer(ttlSeconds === 0 ? {} : { ttlSeconds });
    const other = openStore({ url: `redis://127.0.0.1:${client.options.port}`, keyPrefix }).store;
    const removals = [() => store.clear(KEY), () => other.clear(KEY).then(() => store.read(KEY, { last: 20 }))];
    for (const remove of removals) {
      await store.append(KEY, recordsOf("1"));
      await remove();
      const { sent } = await monitor(client, keyPrefix, () => store.append(KEY, recordsOf("1")));
      expect(commandsOf(sent)).toEqual(["evalsha"]);
      expect((await other.list({ owner: "alice" })).items).toHaveLength(1);
    }
  });

  test("are one of a store that was opened on a server that knows the scripts", async () => {
    const { store, client, keyPrefix } = await ownServer();
    await store.append(KEY, recordsOf("1"));
    const second = openStore({ url: `redis://127.0.0.1:${client.options.port}`, keyPrefix }).store;
    const { sent } = await monitor(client, keyPrefix, () => second.append(KEY, recordsOf("2")));
    expect(commandsOf(sent)).toEqual(["evalsha"]);
  });

  test("of many sessions at once do not wait for each other", async () => {
    const { store, keyPrefix } = openStore();
    await store.append(KEY, recordsOf("1"));
    const redis = openClient();
    const open: ((reply: unknown) => void)[] = [];
    const held = new RedisHistoryStore(
      // Answers nothing until all of them have been asked for.
      {
        client: {
          call: (command, args) => new Promise((resolve) => open.push(() => resolve(redis.call(command, args)))),
        },
      },
      { keyPrefix },
    );
    const sessions = Array.from({ length: 64 }, (_, index) => conversation(`session-${index}`));
    const calls = sessions.flatMap((key) => [held.append(key, recordsOf("a", "b")), held.read(key, { last: 20 })]);
    await expect.poll(() => open.length).toBe(128);
    for (const send of open) {
      send(undefined);
    }
    await Promise.all(calls);
    for (const key of sessions) {
      expect((await store.read(key)).records).toEqual(recordsOf("a", "b"));
    }
  });
});

describe("what many sessions send at once", () => {
  test("goes out in a few pieces, and nothing is held back", async () => {
    const redis = openClient();
    let [depth, pieces, sent] = [0, 0, 0];
    const stream = {
      cork: () => {
        depth += 1;
      },
      uncork: () => {
        depth -= 1;
        pieces += 1;
      },
    };
    const call = (command: string, args: (string | number)[]) => {
      sent += 1;
      return redis.call(command, args);
    };
    const store = new RedisHistoryStore({ client: { call, stream } }, { keyPrefix: freshPrefix() });
    await store.append(KEY, recordsOf("1"));
    expect([pieces, depth]).toEqual([0, 0]);
    sent = 0;
    const calls = Array.from({ length: 64 }, () => store.read(KEY));
    await new Promise((resolve) => setImmediate(resolve));
    expect([sent, depth]).toEqual([64, 0]);
    expect(pieces).toBeGreaterThan(4);
    expect(pieces).toBeLessThan(20);
    expect((await Promise.all(calls)).every(({ records }) => records.length === 1)).toBe(true);
  });

  test("arrives once each, over connections of every kind", async () => {
    const { store, client, keyPrefix } = await ownServer();
    await store.append(KEY, recordsOf("1"));
    const shared = new RedisHistoryStore({ client }, { keyPrefix });
    const { sent } = await monitor(client, keyPrefix, async () => {
      const turns = Array.from({ length: 100 }, (_, index) => [`${index}/user`, `${index}/assistant`]);
      await Promise.all(turns.map((ids, index) => (index % 2 === 0 ? store : shared).append(KEY, recordsOf(...ids))));
    });
    expect(commandsOf(sent)).toEqual(Array.from({ length: 100 }, () => "evalsha"));
    expectWholeTurns((await store.read(KEY)).records.map(({ id }) => id).slice(1));
  });
});

describe("the work of the server", () => {
  test("for an append is the same four commands, whatever is stored", async () => {
    const { store, client, keyPrefix, keysOf } = await ownServer({ ttlSeconds: 3600 });
    await store.append(KEY, recordsOf(...Array.from({ length: 5_000 }, (_, index) => `old-${index}`)));
    const { sent, byScripts } = await monitor(client, keyPrefix, () => store.append(KEY, recordsOf("1", "2")));
    expect(commandsOf(byScripts)).toEqual(["smismember", "rpushx", "pexpire", "sadd"]);
    const { records, ids } = keysOf(KEY);
    // Two keys, what tells of the expiry, and the records.
    expect(sent[0]?.slice(2, 6)).toEqual(["2", records, ids, "|3600000"]);
    expect(sent[0]).toHaveLength(8);
  });

  test("for a read of the newest is one command for one more than was asked for", async () => {
    const { store, client, keyPrefix, keysOf } = await ownServer();
    await store.append(KEY, recordsOf("1", "2", "3"));
    const { sent } = await monitor(client, keyPrefix, () => store.read(KEY, { last: 20 }));
    expect(sent).toEqual([["lrange", keysOf(KEY).records, "-21", "-1"]]);
  });

  test("for a list asks the index and never walks the keyspace", async () => {
    const { store, client, keyPrefix } = await ownServer({ ttlSeconds: 60 });
    for (let index = 0; index < 30; index += 1) {
      await store.append(conversation(`s${index}`), recordsOf("1"));
      await store.append(conversation(`s${index}`, "bob"), recordsOf("1"));
    }
    await store.list({ owner: "alice" });
    const { sent, byScripts } = await monitor(client, keyPrefix, async () => {
      const found: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.list({ owner: "alice" }, { limit: 7, cursor });
        found.push(...page.items);
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(found).toHaveLength(30);
      expect((await store.list({ allOwners: true }, { limit: 100 })).items).toHaveLength(60);
    });
    expect(new Set(commandsOf(sent))).toEqual(new Set(["zrangebylex", "eval"]));
    expect(new Set(commandsOf(byScripts))).toEqual(new Set(["lindex"]));
  });

  test("of every call together knows neither KEYS nor SCAN", async () => {
    const { store, client, keyPrefix } = await ownServer({ ttlSeconds: 60, maxRecords: 3 });
    const { sent, byScripts } = await monitor(client, keyPrefix, async () => {
      await store.append(KEY, recordsOf("1", "2", "3", "4"));
      await store.read(KEY, { last: 2, withFirst: true });
      await store.replace(KEY, { fromId: "2", throughId: "3" }, recordsOf("x"));
      await store.list({ allOwners: true });
      await store.clear(KEY);
      await store.list({ allOwners: true });
    });
    const seen = commandsOf([...sent, ...byScripts]);
    expect(seen.length).toBeGreaterThan(30);
    expect(seen.filter((command) => /scan|keys|flush|smembers/.test(command))).toEqual([]);
  });
});
