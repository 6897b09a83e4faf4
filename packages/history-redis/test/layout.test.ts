import { describe, expect, test } from "vitest";
import { codeOf, contentOf, conversation, keysBelow, openStore, recordsOf, rejection } from "./support/redis.ts";

const KEY = conversation("support-1");
const NAME = '["alice","main","support-1"]';

describe("what is stored", () => {
  test("is a list of records, a set of ids and a name in the index of the same hash tag", async () => {
    const { store, client, keyPrefix, keysOf } = openStore();
    const { version } = await store.append(KEY, recordsOf("1", "2"));
    const { records, ids, names } = keysOf(KEY);
    const bucket = /\{\d+\}/.exec(records)?.[0];
    expect([records, ids, names]).toEqual([
      `${keyPrefix}:1:h:${bucket}:${NAME}`,
      `${keyPrefix}:1:i:${bucket}:${NAME}`,
      `${keyPrefix}:1:n:${bucket}`,
    ]);
    expect(await keysBelow(client, keyPrefix)).toEqual([records, ids, names].sort());
    expect(await client.lrange(records, 0, -1)).toEqual([
      '|1|{"text":"data of 1"}',
      `${version}|2|{"text":"data of 2"}`,
    ]);
    expect((await client.smembers(ids)).sort()).toEqual(["1", "2"]);
    expect(await client.zrange(names, "0", "-1")).toEqual([NAME]);
  });

  test("goes without a trace", async () => {
    const { store, client, keyPrefix } = openStore({ ttlSeconds: 60, maxRecords: 2 });
    await store.append(KEY, recordsOf("1", "2", "3", "4"));
    await store.append(KEY, recordsOf("5"));
    expect(await keysBelow(client, keyPrefix)).toHaveLength(5);
    await store.clear(KEY);
    expect(await keysBelow(client, keyPrefix)).toEqual([]);
  });

  test("is as before when a call is refused", async () => {
    const { store, client, keyPrefix, keysOf } = openStore({ maxRecordBytes: 100 });
    await store.append(KEY, recordsOf("1"));
    const stored = await client.lrange(keysOf(KEY).records, 0, -1);
    const tooLarge = { id: "big", data: JSON.stringify("é".repeat(50)) };
    expect(await codeOf(store.append(KEY, [...recordsOf("2"), tooLarge]))).toBe("too_large");
    expect(await codeOf(store.append(conversation("other"), [tooLarge]))).toBe("too_large");
    expect(await codeOf(store.replace(KEY, { fromId: "1", throughId: "1" }, [tooLarge]))).toBe("too_large");
    expect(await codeOf(store.append(KEY, recordsOf("2"), { ifVersion: "old" }))).toBe("conflict");
    expect(await codeOf(store.append(KEY, recordsOf("")))).toBe("configuration");
    expect(await client.lrange(keysOf(KEY).records, 0, -1)).toEqual(stored);
    expect(await keysBelow(client, keyPrefix)).toHaveLength(3);
    await store.append(KEY, [{ id: "fits", data: JSON.stringify("é".repeat(49)) }]);
  });

  test("of more than one call may hold is refused before anything is written", async () => {
    const { store, client, keyPrefix } = openStore();
    const many = Array.from({ length: 100_001 }, (_, index) => ({ id: String(index), data: "1" }));
    expect(await rejection(store.append(KEY, many))).toMatchObject({ code: "too_large" });
    expect(await keysBelow(client, keyPrefix)).toEqual([]);
  });
});

describe("memory", () => {
  test("of 1,000 messages is at most 1.6 times that of the bare list", async () => {
    const { store, client, keyPrefix, keysOf } = openStore({ ttlSeconds: 3600 });
    const text = (size: number) =>
      JSON.stringify({ role: "user", contents: [{ type: "text", text: "x".repeat(size) }] });
    for (let turn = 0; turn < 500; turn += 1) {
      const records = [120, 600].map((size) => ({ id: crypto.randomUUID(), data: text(size) }));
      await store.append(KEY, records);
      await client.rpush(`${keyPrefix}:bare`, ...records.map(({ data }) => data));
    }
    const sizeOf = async (key: string) => Number((await client.memory("USAGE", key, "SAMPLES", 0)) ?? 0);
    const { records, ids, removed } = keysOf(KEY);
    const ours = (await sizeOf(records)) + (await sizeOf(ids)) + (await sizeOf(removed));
    const ratio = ours / (await sizeOf(`${keyPrefix}:bare`));
    await client.unlink(`${keyPrefix}:bare`);
    expect(ratio).toBeGreaterThan(1);
    expect(ratio).toBeLessThan(1.6);
  });
});

describe("data that is not ours", () => {
  const TYPES = ["records", "ids", "removed", "names", "expiries"] as const;

  test.each(TYPES)("where the %s should be is corrupt and stays; nothing is written beside it", async (which) => {
    const { store, client, keyPrefix, keysOf } = openStore({ ttlSeconds: 60, maxRecords: 5 });
    const key = keysOf(KEY)[which];
    await client.set(key, "somebody else's");
    expect(await rejection(store.append(KEY, recordsOf("1", "2")))).toMatchObject({ code: "corrupt" });
    expect(await rejection(store.clear(KEY))).toMatchObject({ code: "corrupt" });
    expect(await client.get(key)).toBe("somebody else's");
    expect(await keysBelow(client, keyPrefix)).toEqual([key]);
  });

  test.each(TYPES)("in place of the %s of a conversation leaves the rest as it is", async (which) => {
    const { store, client, keyPrefix, keysOf } = openStore({ ttlSeconds: 60, maxRecords: 3 });
    await store.append(KEY, recordsOf("1", "2", "3", "4"));
    const keys = keysOf(KEY);
    await client.set(keys[which], "somebody else's");
    // The next write is due to tell the index.
    const dump = async () =>
      Promise.all((await keysBelow(client, keyPrefix)).map(async (key) => [key, await contentOf(client, key)]));
    const before = await dump();
    const due = openStore({ keyPrefix, ttlSeconds: 60, maxRecords: 3 }).store;
    expect(await codeOf(due.append(KEY, recordsOf("5", "6")))).toBe("corrupt");
    expect(await codeOf(due.replace(KEY, { fromId: "3", throughId: "4" }, recordsOf("7")))).toBe("corrupt");
    expect(await codeOf(due.clear(KEY))).toBe("corrupt");
    expect(await dump()).toEqual(before);
  });

  test.each(["records", "ids"] as const)(
    "in place of the %s, put there while a store is at work, stays",
    async (which) => {
      const { store, client, keyPrefix, keysOf } = openStore({ ttlSeconds: 60 });
      await store.append(KEY, recordsOf("1", "2"));
      await store.append(KEY, recordsOf("3"));
      await client.set(keysOf(KEY)[which], "somebody else's");
      const keys = await keysBelow(client, keyPrefix);
      const before = await Promise.all(keys.map((key) => contentOf(client, key)));
      expect(await codeOf(store.append(KEY, recordsOf("4", "5")))).toBe("corrupt");
      expect(await keysBelow(client, keyPrefix)).toEqual(keys);
      expect(await Promise.all(keys.map((key) => contentOf(client, key)))).toEqual(before);
    },
  );

  test("in place of the records is corrupt for reads, and told by list", async () => {
    const { store, client, keysOf } = openStore();
    await store.append(KEY, recordsOf("1"));
    await client.set(keysOf(KEY).records, "somebody else's");
    for (const options of [{}, { last: 2 }, { last: 1, withFirst: true }, { onCorrupt: "skip" }] as const) {
      expect(await rejection(store.read(KEY, options))).toMatchObject({ code: "corrupt" });
    }
    expect((await store.list({ owner: "alice" })).items).toEqual([{ key: KEY }]);
  });

  test("in one element is reported with its position, skipped on demand, and never touched", async () => {
    const { store, client, keysOf } = openStore();
    await store.append(KEY, recordsOf("1", "2", "3"));
    await client.lset(keysOf(KEY).records, 1, "damaged");
    const error = await rejection(store.read(KEY));
    expect(error).toMatchObject({ code: "corrupt", position: "index 1" });
    expect(String(error)).not.toMatch(/alice|support-1|damaged/);
    const page = await store.read(KEY, { last: 3, onCorrupt: "skip" });
    expect([page.records, page.corrupt]).toEqual([recordsOf("1", "3"), ["index -2"]]);
    await store.append(KEY, recordsOf("4"));
    expect(await client.lindex(keysOf(KEY).records, 1)).toBe("damaged");
  });

  test("in the index is no conversation, and is left alone", async () => {
    const { store, client, keysOf } = openStore();
    await store.append(KEY, recordsOf("1"));
    await client.zadd(keysOf(KEY).names, 0, "no name", 0, '["alice"', 0, "[1,2,3]");
    expect((await store.list({ allOwners: true })).items.map(({ key }) => key)).toEqual([KEY]);
    expect(await client.zcard(keysOf(KEY).names)).toBe(4);
  });
});
