import { describe, expect, test } from "vitest";
import { RedisStateStore } from "../src/index.ts";
import { codeOf, keysBelow, openClient, openStore, pause } from "./support/redis.ts";
import { freshPrefix } from "./support/stores.ts";

const TEXT = '{"a":1.0}';

describe("what is stored", () => {
  test("is a value, an entry and its places in the owner's index", async () => {
    const { store, client, keyPrefix } = openStore();
    const { etag } = await store.create("step/1", TEXT, { owner: "alice", tags: { kind: "draft", by: "me" } });
    const [value, entries, order, tags] = ["s", "se", "so", "st"].map((kind) => `${keyPrefix}:1:${kind}:{owner:alice}`);
    expect(await keysBelow(client, keyPrefix)).toEqual([`${value}:step/1`, entries, order, tags].sort());
    expect(await client.get(`${value}:step/1`)).toBe(TEXT);
    const line = (await client.hget(`${entries}`, "step/1")) ?? "";
    const [head = "", ...lines] = line.split("\n");
    expect(lines).toEqual(['["by","me"]', '["kind","draft"]', ""]);
    const [seq = "", storedEtag, expiresAt, writtenAt, earlier] = head.split(" ");
    expect([storedEtag, expiresAt, earlier]).toEqual([etag, "0", ""]);
    expect(Math.abs(Number(writtenAt) - Date.now())).toBeLessThan(60_000);
    expect(seq).toMatch(/^\d{16}$/);
    expect(await client.call("zrange", [`${order}`, 0, -1, "WITHSCORES"])).toEqual(["step/1", String(Number(seq))]);
    expect(await client.call("zrange", [`${tags}`, 0, -1])).toEqual([
      `["by","me"]${seq}step/1`,
      `["kind","draft"]${seq}step/1`,
    ]);
  });

  test("goes without a trace, tags and expiries included", async () => {
    const { store, client, keyPrefix } = openStore({ ttlSeconds: 60 });
    for (const key of ["a", "b", "c"]) {
      await store.set(key, TEXT, { tags: { kind: "draft", key } });
      await store.set(key, TEXT, { tags: { kind: "final" } });
    }
    for (const key of ["a", "b", "c"]) {
      await store.delete(key);
    }
    expect(await keysBelow(client, keyPrefix)).toEqual([]);
  });

  test("keeps its place in the order of creation when it is written again", async () => {
    const { store } = openStore();
    for (const key of ["a", "b", "c"]) {
      await store.create(key, TEXT);
    }
    await store.set("a", TEXT, { tags: { x: "y" } });
    await store.set("b", TEXT, { ifMatch: "*" });
    expect((await store.listKeys()).keys.map(({ key }) => key)).toEqual(["a", "b", "c"]);
    await store.delete("a");
    await store.create("a", TEXT);
    expect((await store.listKeys()).keys.map(({ key }) => key)).toEqual(["b", "c", "a"]);
  });

  test("is ordered by creation also when the server's clock stands behind", async () => {
    const { store, client, keysOf } = openStore();
    await store.create("a", TEXT);
    const { order, entries } = keysOf("a");
    const ahead = "7000000000000000";
    const line = await client.hget(entries, "a");
    await client.hset(entries, "a", (line ?? "").replace(/^\d+/, ahead));
    await client.zadd(order, ahead, "a");
    await store.create("b", TEXT);
    await store.create("c", TEXT);
    expect((await store.listKeys({ limit: 2 })).keys.map(({ key }) => key)).toEqual(["a", "b"]);
    expect((await store.listKeys({ order: "desc" })).keys.map(({ key }) => key)).toEqual(["c", "b", "a"]);
  });

  test("holds no etag of an item that is written now and then", async () => {
    const { store, client, keysOf } = openStore();
    await store.create("a", TEXT);
    const { entries } = keysOf("a");
    const line = (await client.hget(entries, "a")) ?? "";
    await client.hset(entries, "a", line.replace(/^(\S+ \S+ \S+) \d+ /, `$1 ${Date.now() - 31_000} `));
    await store.set("a", TEXT);
    expect(await client.hget(entries, "a")).toMatch(/^\S+ \S+ \S+ \S+ \n$/);
    for (let write = 0; write < 70; write += 1) {
      await store.set("a", TEXT);
    }
    const earlier = ((await client.hget(entries, "a")) ?? "").trim().split(" ")[4] ?? "";
    expect(earlier.split(",")).toHaveLength(64);
  });
});

describe("text", () => {
  test("that has no UTF-8 is refused, before it could come back as something else", async () => {
    const { store, client, keyPrefix } = openStore();
    for (const text of ['{"a":"\ud83d"}', '{"\udc00":1}']) {
      expect(await codeOf(store.set("a", text))).toBe("configuration");
      expect(await codeOf(store.create("a", text))).toBe("configuration");
    }
    expect(await keysBelow(client, keyPrefix)).toEqual([]);
    const escaped = JSON.stringify({ a: "\ud83d" });
    await store.set("a", escaped);
    expect((await store.get("a"))?.text).toBe(escaped);
  });
});

describe("expiry", () => {
  test("is renewed by writes, for the value and for the index, and by nothing else", async () => {
    const { store, client, keyPrefix } = openStore({ ttlSeconds: 60 });
    await store.set("a", TEXT, { tags: { kind: "draft" } });
    const keys = await keysBelow(client, keyPrefix);
    expect(keys).toHaveLength(5);
    const lives = () => Promise.all(keys.map((key) => client.pttl(key)));
    const expectLives = async (lowest: number, highest: number) => {
      for (const life of await lives()) {
        expect(life).toBeGreaterThan(lowest);
        expect(life).toBeLessThanOrEqual(highest);
      }
    };
    await expectLives(30_000, 60_000);
    for (const key of keys) {
      await client.pexpire(key, 20_000);
    }
    await store.get("a");
    await store.listKeys();
    await codeOf(store.create("a", TEXT));
    await codeOf(store.set("a", TEXT, { ifMatch: "no such etag" }));
    await expectLives(0, 20_000);
    await store.set("a", TEXT, { tags: { kind: "draft" } });
    await expectLives(30_000, 60_000);
  });

  test("leaves nothing behind when the owner's last item has expired", async () => {
    const { store, client, keyPrefix } = openStore({ ttlSeconds: 0.2 });
    await Promise.all(
      Array.from({ length: 200 }, (_, index) => store.set(`item-${index}`, TEXT, { tags: { a: "b" } })),
    );
    await pause(400);
    expect(await store.listKeys()).toEqual({ keys: [] });
    expect(await keysBelow(client, keyPrefix)).toEqual([]);
  });

  test("is cleared from the index of a busy owner by later writes", async () => {
    const { store, client, keyPrefix, keysOf } = openStore({ ttlSeconds: 0.2 });
    const busy = new RedisStateStore({ client }, { keyPrefix });
    await busy.set("stays", TEXT);
    await Promise.all(Array.from({ length: 40 }, (_, index) => store.set(`item-${index}`, TEXT, { tags: { a: "b" } })));
    const { entries, order, tags, expiries } = keysOf("stays");
    expect(await client.hlen(entries)).toBe(41);
    await pause(400);
    expect((await store.listKeys()).keys.map(({ key }) => key)).toEqual(["stays"]);
    for (let write = 0; write < 3; write += 1) {
      await busy.set("stays", TEXT);
    }
    expect(await Promise.all([client.hlen(entries), client.zcard(order)])).toEqual([1, 1]);
    expect(await client.exists(tags, expiries)).toBe(0);
    expect(await client.pttl(entries)).toBe(-1);
  });

  test("of one item does not end the index of those that never expire", async () => {
    const { store, client, keyPrefix } = openStore({ ttlSeconds: 0.2 });
    const forever = new RedisStateStore({ client }, { keyPrefix });
    await store.set("short", TEXT, { tags: { a: "b" } });
    await forever.set("long", TEXT, { tags: { a: "b" } });
    await store.set("short-too", TEXT, { tags: { a: "b" } });
    await pause(400);
    expect((await forever.listKeys({ tags: { a: "b" } })).keys.map(({ key }) => key)).toEqual(["long"]);
    expect(await forever.get("long")).toBeDefined();
  });

  test("ends when a store without expiry writes the item", async () => {
    const { store, client, keyPrefix, keysOf } = openStore({ ttlSeconds: 0.2 });
    const forever = new RedisStateStore({ client }, { keyPrefix });
    await store.set("a", TEXT);
    await forever.set("a", TEXT);
    expect(await client.exists(keysOf("a").expiries)).toBe(0);
    await pause(400);
    await store.set("b", TEXT);
    expect((await store.get("a"))?.text).toBe(TEXT);
    expect((await store.listKeys()).keys.map(({ key }) => key)).toEqual(["a", "b"]);
  });

  test("a longer life of one store is not cut short by the shorter one of another", async () => {
    const { store, client, keyPrefix } = openStore({ ttlSeconds: 60 });
    const short = new RedisStateStore({ client }, { keyPrefix, ttlSeconds: 0.2 });
    await store.set("long", TEXT, { tags: { a: "b" } });
    await short.set("short", TEXT, { tags: { a: "b" } });
    await pause(400);
    expect((await store.listKeys({ tags: { a: "b" } })).keys.map(({ key }) => key)).toEqual(["long"]);
  });
});

describe("stored data that cannot be read", () => {
  const everyCall = (store: RedisStateStore) => ({
    create: () => store.create("a", TEXT),
    set: () => store.set("a", TEXT, { tags: { a: "b" } }),
    get: () => store.get("a"),
    delete: () => store.delete("a"),
    listKeys: () => store.listKeys({ tags: { a: "b" } }),
  });

  test.each([
    ["value", ["create", "set", "get", "delete"]],
    ["entries", ["create", "set", "get", "delete", "listKeys"]],
    ["order", ["create", "set", "delete", "listKeys"]],
    ["tags", ["create", "set", "delete", "listKeys"]],
    ["expiries", ["create", "set", "delete"]],
  ] as const)("a key of another type in the place of %s is corrupt, and nothing is written", async (place, methods) => {
    const { store, client, keyPrefix, keysOf } = openStore();
    await store.set("a", TEXT, { tags: { a: "b" } });
    const key = keysOf("a")[place];
    await client.del(key);
    await client.rpush(key, "somebody else's");
    const before = await dump(client, keyPrefix);
    const calls = everyCall(store);
    for (const method of methods) {
      expect(await codeOf(calls[method]()), method).toBe("corrupt");
      expect(await dump(client, keyPrefix), method).toEqual(before);
    }
  });

  test("an unreadable entry is corrupt for every call, and stays", async () => {
    const { store, client, keyPrefix, keysOf } = openStore();
    await store.set("a", TEXT, { tags: { a: "b" } });
    await client.hset(keysOf("a").entries, "a", "not an entry");
    const before = await dump(client, keyPrefix);
    const { listKeys, ...calls } = everyCall(store);
    for (const call of Object.values(calls)) {
      expect(await codeOf(call())).toBe("corrupt");
    }
    expect(await codeOf(store.listKeys())).toBe("corrupt");
    expect(await dump(client, keyPrefix)).toEqual(before);
  });

  test("tags that are none are corrupt, not absent", async () => {
    const { store, client, keysOf } = openStore();
    await store.set("a", TEXT, { tags: { a: "b" } });
    const { entries } = keysOf("a");
    await client.hset(entries, "a", ((await client.hget(entries, "a")) ?? "").replace('["a","b"]', '["a"]'));
    expect(await codeOf(store.get("a"))).toBe("corrupt");
    expect(await codeOf(store.listKeys())).toBe("corrupt");
  });

  test("a value that the server evicted is corrupt, not absent, and can be written or deleted", async () => {
    const { store, client, keysOf } = openStore();
    const { etag } = await store.set("a", TEXT);
    await client.del(keysOf("a").value);
    expect(await codeOf(store.get("a"))).toBe("corrupt");
    expect(await codeOf(store.create("a", TEXT))).toBe("conflict");
    await store.set("a", TEXT, { ifMatch: etag });
    expect((await store.get("a"))?.text).toBe(TEXT);
    await client.del(keysOf("a").value);
    expect(await store.delete("a")).toBe(true);
    expect(await store.get("a")).toBeUndefined();
  });

  test("a value that is no JSON object is corrupt", async () => {
    const { store, client, keysOf } = openStore();
    await store.set("a", TEXT);
    for (const text of ["", "[]", '{"a":', "null"]) {
      await client.set(keysOf("a").value, text);
      expect(await codeOf(store.get("a"))).toBe("corrupt");
      expect(await client.get(keysOf("a").value)).toBe(text);
    }
  });

  test("half an index is corrupt, never an empty listing", async () => {
    for (const place of ["entries", "order"] as const) {
      const { store, client, keysOf } = openStore();
      await store.set("a", TEXT);
      await client.del(keysOf("a")[place]);
      expect(await codeOf(store.listKeys())).toBe("corrupt");
      expect(await codeOf(store.create("b", TEXT))).toBe("corrupt");
      expect(await client.exists(keysOf("b").value)).toBe(0);
    }
  });
});

describe("other people's keys", () => {
  test("are not touched, whatever characters the names have", async () => {
    const { store, client, keyPrefix } = openStore();
    const foreign = [`${keyPrefix}:1:s:{owner:alice}:b`, `${keyPrefix}x`, `${keyPrefix}:1:s:{owner:*}:a`];
    for (const key of foreign) {
      await client.set(key, "theirs");
    }
    for (const owner of ["*", "al?ce", "[a]lice", "alice"]) {
      await store.set("*", TEXT, { owner });
      await store.listKeys({ owner });
      await store.delete("*", { owner });
    }
    expect(await client.mget(foreign)).toEqual(["theirs", "theirs", "theirs"]);
    await client.del(foreign);
  });

  test("of a history with the same prefix are others", async () => {
    const { store, client, keyPrefix } = openStore({ ttlSeconds: 60 });
    const history = ["h", "i", "r", "n", "e"].map((kind) => `${keyPrefix}:1:${kind}:{owner:alice}`);
    for (const key of history) {
      await client.set(key, "history");
    }
    await store.set("a", TEXT, { owner: "alice", tags: { a: "b" } });
    await store.delete("a", { owner: "alice" });
    expect(await keysBelow(client, keyPrefix)).toEqual([...history].sort());
    await client.del(history);
  });

  test("a client's own key prefix is put before every key", async () => {
    const client = openClient(undefined, { keyPrefix: "app:" });
    const keyPrefix = freshPrefix();
    const store = new RedisStateStore({ client }, { keyPrefix, ttlSeconds: 60 });
    const { etag } = await store.create("a", TEXT, { tags: { a: "b" } });
    expect((await store.get("a"))?.etag).toBe(etag);
    expect((await store.listKeys({ tags: { a: "b" } })).keys).toHaveLength(1);
    const plain = openClient();
    expect(await keysBelow(plain, keyPrefix)).toEqual([]);
    expect(await keysBelow(plain, `app:${keyPrefix}`)).toHaveLength(5);
    expect(await store.delete("a")).toBe(true);
    expect(await keysBelow(plain, `app:${keyPrefix}`)).toEqual([]);
  });
});

/** The bytes of every key below a prefix. */
async function dump(client: ReturnType<typeof openClient>, prefix: string): Promise<(string | undefined)[][]> {
  const keys = await keysBelow(client, prefix);
  return Promise.all(keys.map(async (key) => [key, (await client.dumpBuffer(key))?.toString("hex")]));
}
