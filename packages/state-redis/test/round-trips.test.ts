import { AgentSession, SessionStore } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { monitor } from "./support/monitor.ts";
import { openStore, ownServer } from "./support/redis.ts";

const TEXT = '{"a":1}';

describe("round trips", () => {
  test("are one for each call, by the script's name", async () => {
    const { store, client, keyPrefix } = await ownServer({ ttlSeconds: 60 });
    const { etag } = await store.create("a", TEXT, { tags: { a: "b" } });
    await store.set("b", TEXT, { ifMatch: "*" }).catch(() => undefined);
    await store.get("a");
    await store.listKeys();
    await store.delete("b");
    const calls: Record<string, () => Promise<unknown>> = {
      create: () => store.create("c", TEXT, { tags: { a: "b", c: "d" } }),
      "create of what is there": () => store.create("a", TEXT).catch(() => undefined),
      set: () => store.set("c", TEXT, { tags: { a: "x" } }),
      "set under an etag": () => store.set("a", TEXT, { ifMatch: etag }),
      "set under an old etag": () => store.set("a", TEXT, { ifMatch: etag }).catch(() => undefined),
      get: () => store.get("a"),
      "get of what is not there": () => store.get("unknown"),
      listKeys: () => store.listKeys(),
      "listKeys by tags": () => store.listKeys({ tags: { a: "x" }, order: "desc", limit: 5 }),
      delete: () => store.delete("c"),
      "delete of what is not there": () => store.delete("c"),
    };
    for (const [name, call] of Object.entries(calls)) {
      const { sent } = await monitor(client, keyPrefix, call);
      expect(
        sent.map(([command = ""]) => command.toLowerCase()),
        name,
      ).toEqual(["evalsha"]);
    }
  });

  test("are one to load a session and one to save it", async () => {
    const { store, client, keyPrefix } = await ownServer();
    const sessions = new SessionStore(store);
    await sessions.save(new AgentSession({ sessionId: "s", owner: "alice" }));
    await sessions.load("s", { owner: "alice" });
    const load = await monitor(client, keyPrefix, () => sessions.load("s", { owner: "alice" }));
    expect(load.sent).toHaveLength(1);
    const update = await monitor(client, keyPrefix, () => sessions.update("s", { owner: "alice" }, () => undefined));
    expect(update.sent).toHaveLength(2);
  });

  test("are two when the server has forgotten the script, and one from then on", async () => {
    const { store, client, keyPrefix } = await ownServer();
    await store.set("a", TEXT);
    await client.script("FLUSH");
    const first = await monitor(client, keyPrefix, () => store.set("a", TEXT));
    expect(first.sent.map(([command = ""]) => command.toLowerCase())).toEqual(["evalsha", "eval"]);
    const second = await monitor(client, keyPrefix, () => store.set("a", TEXT));
    expect(second.sent).toHaveLength(1);
  });

  test("of many calls at once do not wait for each other", async () => {
    const { store, client, keyPrefix } = await ownServer();
    await store.set("a", TEXT);
    let isSent = 0;
    const { sent } = await monitor(client, keyPrefix, () =>
      Promise.all(Array.from({ length: 64 }, (_, index) => store.set(`item-${index}`, TEXT).then(() => (isSent += 1)))),
    );
    expect([sent.length, isSent]).toEqual([64, 64]);
    expect(new Set(sent.map((args) => args.at(-6))).size).toBe(64);
  });
});

describe("a listing", () => {
  test("reads no value, and neither does a write", async () => {
    const { store, client, keyPrefix } = await ownServer();
    for (let index = 0; index < 30; index += 1) {
      await store.set(`item-${index}`, TEXT, { tags: { half: String(index % 2) } });
    }
    const { byScripts } = await monitor(client, keyPrefix, async () => {
      await store.listKeys();
      await store.listKeys({ tags: { half: "1" } });
      await store.set("item-1", TEXT, { tags: { half: "0" } });
      await store.delete("item-2");
    });
    const commands = byScripts.map(([command = ""]) => command.toLowerCase());
    expect(commands.length).toBeGreaterThan(10);
    expect(
      commands.filter((command) => ["get", "mget", "getrange", "keys", "scan", "hgetall", "hscan"].includes(command)),
    ).toEqual([]);
  });

  test("takes the server less than 1,500 entries at a time, however many it looks at", async () => {
    const { store, client, keyPrefix } = await ownServer();
    const writes = Array.from({ length: 4_000 }, (_, index) => {
      const side = index % 2 === 0 ? { left: "yes" } : { right: "yes" };
      const both = index === 3_998 ? { left: "yes", right: "yes" } : side;
      return store.set(`item-${index}`, TEXT, { tags: both });
    });
    await Promise.all(writes);
    const { sent, byScripts } = await monitor(client, keyPrefix, async () => {
      const { keys, cursor } = await store.listKeys({ tags: { left: "yes", right: "yes" } });
      expect([keys.map(({ key }) => key), cursor]).toEqual([["item-3998"], undefined]);
    });
    expect(sent.length).toBeGreaterThan(1);
    expect(sent.length).toBeLessThanOrEqual(3);
    const largest = Math.max(...byScripts.filter(([command]) => command === "HMGET").map((args) => args.length - 2));
    expect(largest).toBeLessThanOrEqual(500);
  });

  test("gives as many keys as are asked for, across several answers of the server", async () => {
    const { store } = openStore();
    await Promise.all(Array.from({ length: 3_100 }, (_, index) => store.set(`item-${index}`, TEXT)));
    const first = await store.listKeys({ limit: 3_000 });
    expect([first.keys.length, new Set(first.keys.map(({ key }) => key)).size]).toEqual([3_000, 3_000]);
    const second = await store.listKeys({ limit: 3_000, cursor: first.cursor });
    expect([second.keys.length, second.cursor]).toEqual([100, undefined]);
  });

  test("looks at the rarest of several tags only", async () => {
    const { store, client, keyPrefix } = await ownServer();
    await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        store.set(`item-${index}`, TEXT, { tags: { all: "yes", rare: String(index % 250) } }),
      ),
    );
    const { byScripts } = await monitor(client, keyPrefix, () =>
      store.listKeys({ tags: { all: "yes", rare: "7" }, limit: 50 }),
    );
    const entries = byScripts.filter(([command]) => command === "HMGET").map((args) => args.length - 2);
    expect(entries).toEqual([4]);
  });

  test("gives every key once that was there throughout, while two others write, delete and create", async () => {
    const { store, client, keyPrefix } = await ownServer();
    const staying = Array.from({ length: 300 }, (_, index) => `stays-${index}`);
    for (const key of staying) {
      await store.set(key, TEXT, { tags: { kind: "x" } });
    }
    let isOver = false;
    const disturb = async (name: string) => {
      for (let turn = 0; !isOver; turn += 1) {
        await store.set(`stays-${turn % 300}`, TEXT, { tags: { kind: "x" } });
        await store.set(`${name}-${turn}`, TEXT, { tags: { kind: "x" } });
        await store.delete(`${name}-${turn - 2}`);
      }
    };
    const disturbing = [disturb("left"), disturb("right")];
    for (const order of ["asc", "desc"] as const) {
      for (const tags of [undefined, { kind: "x" }]) {
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await store.listKeys({ limit: 7, cursor, order, tags });
          seen.push(...page.keys.map(({ key }) => key));
          cursor = page.cursor;
        } while (cursor !== undefined && seen.length < 5_000);
        const found = seen.filter((key) => key.startsWith("stays-"));
        expect(new Set(seen).size).toBe(seen.length);
        expect(found).toEqual(order === "asc" ? staying : [...staying].reverse());
      }
    }
    isOver = true;
    await Promise.all(disturbing);
    expect(await client.zcard(`${keyPrefix}:1:so:{unowned}`)).toBe(304);
  });

  test.each(["", "abc", "1", "-1", "17645000000000001", 1_764_500_000_000_000])(
    "refuses the cursor %j",
    async (cursor) => {
      const { store } = openStore();
      await expect(Reflect.apply(store.listKeys, store, [{ cursor }])).rejects.toMatchObject({ code: "configuration" });
    },
  );
});
