import { openConversation } from "@agentfw/core";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { advance } from "./support/open.ts";
import { codeOf, conversation, keysBelow, openStore, recordsOf, type StoreUnderTest } from "./support/redis.ts";

const KEY = conversation("s");

function openAging(options: { ttlSeconds?: number; maxRecords?: number; keyPrefix?: string; url?: string } = {}) {
  const opened = openStore({ ttlSeconds: 60, ...options });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return { ...opened, pass: (seconds: number) => advance(opened.client, opened.keyPrefix, seconds * 1000) };
}

async function livesOf({ client, keysOf }: StoreUnderTest): Promise<Record<string, number>> {
  const entries = Object.entries(keysOf(KEY));
  const lives = await Promise.all(entries.map(async ([name, key]) => [name, await client.pttl(key)] as const));
  return Object.fromEntries(lives);
}

describe("expiry", () => {
  test("is the whole time again after each write, and never after a read", async () => {
    const aging = openAging();
    await aging.store.append(KEY, recordsOf("1"));
    await aging.pass(50);
    await aging.store.append(KEY, recordsOf("2"));
    expect((await livesOf(aging))["records"]).toBeGreaterThan(59_000);
    await aging.pass(30);
    await aging.store.read(KEY, { last: 1 });
    await aging.store.read(KEY, { last: 1, withFirst: true });
    await aging.store.list({ owner: "alice" });
    await aging.store.append(KEY, recordsOf("1", "2"));
    const lives = await livesOf(aging);
    expect(lives["records"]).toBeGreaterThan(25_000);
    expect(lives["records"]).toBeLessThanOrEqual(30_000);
    await aging.pass(29);
    expect((await aging.store.read(KEY)).records).toEqual(recordsOf("1", "2"));
    await aging.pass(2);
    expect(await aging.store.read(KEY)).toEqual({ records: [], version: "" });
  });

  test("of ids and index comes after that of the records, also when the index was not told of the last write", async () => {
    const aging = openAging({ ttlSeconds: 160, maxRecords: 2 });
    await aging.store.append(KEY, recordsOf("1", "2", "3"));
    for (let turn = 0; turn < 40; turn += 1) {
      await aging.pass(7);
      await aging.store.append(KEY, recordsOf(`turn-${turn}`));
      const { records, ...others } = await livesOf(aging);
      for (const life of Object.values(others)) {
        expect(life).toBeGreaterThan(records ?? 0);
      }
    }
    const { client, keysOf } = aging;
    const score = Number(await client.zscore(keysOf(KEY).expiries, '["alice","main","s"]'));
    // The server's clock goes on as it is.
    expect(score - Number((await client.time())[0]) * 1000).toBeGreaterThan(160_000);
  });

  test("leaves nothing: the next conversation is new, and takes what is over out of the index", async () => {
    const aging = openAging();
    const { store, client, keyPrefix, keysOf } = aging;
    await store.append(KEY, recordsOf("1", "2"));
    // Another one in the same bucket, which keeps the index.
    const bucket = keysOf(KEY).names;
    const neighbours = Array.from({ length: 2_000 }, (_, index) => conversation(`n${index}`)).filter(
      (key) => keysOf(key).names === bucket,
    );
    await aging.pass(900);
    expect((await store.append(KEY, recordsOf("1", "2"))).appended).toBe(2);
    await aging.pass(900);
    for (const key of neighbours.slice(0, 2)) {
      await store.append(key, recordsOf("1"));
    }
    expect(await client.zcard(bucket)).toBe(2);
    await aging.pass(200);
    expect(await keysBelow(client, keyPrefix)).toEqual([]);
  });

  test("that is cut short by a failing command stores nothing, and the retry sets it", async () => {
    const { client, keyPrefix, store, keysOf } = openAging();
    await store.append(KEY, recordsOf("1"));
    await client.call("acl", ["setuser", keyPrefix, "on", ">secret", "~*", "+@all", "-pexpire"]);
    onTestFinished(async () => {
      await client.call("acl", ["deluser", keyPrefix]);
    });
    const url = new URL(`redis://${keyPrefix}:secret@127.0.0.1:${client.options.port}`).href;
    const denied = openStore({ url, keyPrefix, ttlSeconds: 60 });
    expect(await codeOf(denied.store.append(KEY, recordsOf("2")))).toBe("unauthorized");
    expect((await store.read(KEY)).records).toEqual(recordsOf("1"));
    await client.pexpire(keysOf(KEY).records, 1_000_000);
    await client.call("acl", ["setuser", keyPrefix, "+pexpire"]);
    expect((await denied.store.append(KEY, recordsOf("2"))).appended).toBe(1);
    expect(await client.pttl(keysOf(KEY).records)).toBeLessThanOrEqual(60_000);
  });

  test("of stores with a long and a short one never takes a living conversation out of the index", async () => {
    const aging = openAging({ ttlSeconds: 10_000 });
    const short = openStore({ keyPrefix: aging.keyPrefix, ttlSeconds: 60 }).store;
    await aging.store.append(KEY, recordsOf("1"));
    await short.append(KEY, recordsOf("2"));
    expect(await aging.client.pttl(aging.keysOf(KEY).records)).toBeLessThanOrEqual(60_000);
    // It is not due to tell the index again.
    await aging.store.append(KEY, recordsOf("3"));
    const score = Number(await aging.client.zscore(aging.keysOf(KEY).expiries, '["alice","main","s"]'));
    expect(score - Number((await aging.client.time())[0]) * 1000).toBeGreaterThan(10_000_000);
    expect(await aging.client.pttl(aging.keysOf(KEY).ids)).toBeGreaterThan(10_000_000);
    expect(await aging.client.pttl(aging.keysOf(KEY).names)).toBeGreaterThan(10_000_000);
  });

  test.each([
    ["a shorter one", 1],
    ["none", undefined],
  ])(
    "of a conversation that a store with %s made anew never ends for ids or index before the records",
    async (_, other) => {
      const aging = openAging({ ttlSeconds: 3_200 });
      const second = openStore({ keyPrefix: aging.keyPrefix, ttlSeconds: other }).store;
      await aging.store.append(KEY, recordsOf("1"));
      await second.clear(KEY);
      await second.append(KEY, recordsOf("2"));
      // By what it remembers of the conversation before, it is not due to tell them anything.
      await aging.store.append(KEY, recordsOf("3"));
      const { records = 0, ids, expiries, names } = await livesOf(aging);
      expect(records).toBeGreaterThan(3_100_000);
      expect(ids).toBeGreaterThan(records);
      expect(expiries).toBeGreaterThan(records);
      // Names that once had something without an end have none; each goes with its conversation.
      expect(other === undefined ? names : (names ?? 0) > records).toBe(other === undefined ? -1 : true);
      const score = Number(await aging.client.zscore(aging.keysOf(KEY).expiries, '["alice","main","s"]'));
      expect(score - Number((await aging.client.time())[0]) * 1000).toBeGreaterThan(3_200_000);
      await aging.pass(3_100);
      expect((await aging.store.list({ owner: "alice" })).items).toHaveLength(1);
      expect(await aging.store.append(KEY, recordsOf("2", "3"))).toMatchObject({ appended: 0 });
    },
  );

  test("of a conversation that a store with a shorter one began after the end of the first is as long for its ids", async () => {
    const aging = openAging({ ttlSeconds: 3_200 });
    const short = openStore({ keyPrefix: aging.keyPrefix, ttlSeconds: 1 }).store;
    await aging.store.append(KEY, recordsOf("1"));
    // The records end elsewhere sooner than this process knows.
    await aging.client.pexpire(aging.keysOf(KEY).records, 1);
    await vi.waitUntil(async () => (await aging.client.exists(aging.keysOf(KEY).records)) === 0);
    await short.append(KEY, recordsOf("2"));
    await aging.store.append(KEY, recordsOf("3"));
    const { records = 0, ids } = await livesOf(aging);
    expect(ids).toBeGreaterThan(records);
  });

  test("of the ids that a replace removed is that of the others, also after a store with a shorter one", async () => {
    const aging = openAging({ ttlSeconds: 3_200, maxRecords: 3 });
    await openStore({ keyPrefix: aging.keyPrefix, ttlSeconds: 1 }).store.append(KEY, recordsOf("1", "2"));
    await aging.store.replace(KEY, { fromId: "1", throughId: "1" }, recordsOf("3"));
    const { records = 0, removed, ids } = await livesOf(aging);
    expect(removed).toBeGreaterThan(records);
    expect(ids).toBeGreaterThan(records);
  });

  test("is left as it is by the writes of a store without one", async () => {
    const aging = openAging({ ttlSeconds: 60 });
    const forever = openStore({ keyPrefix: aging.keyPrefix }).store;
    await aging.store.append(KEY, recordsOf("1"));
    await forever.append(KEY, recordsOf("2"));
    await forever.replace(KEY, { fromId: "1", throughId: "1" }, recordsOf("3"));
    const { records } = await livesOf(aging);
    expect(records).toBeGreaterThan(0);
    expect(records).toBeLessThanOrEqual(60_000);
  });

  test("of stores with and without it keeps the index right", async () => {
    const aging = openAging();
    const forever = openStore({ keyPrefix: aging.keyPrefix }).store;
    await aging.store.append(KEY, recordsOf("1"));
    await forever.append(conversation("kept"), recordsOf("1"));
    await forever.append(KEY, recordsOf("2"));
    await aging.pass(70);
    expect((await aging.store.list({ owner: "alice" })).items.map(({ key }) => key.session)).toEqual(["kept"]);
    await aging.store.append(conversation("kept"), recordsOf("2"));
    const { records, ids } = aging.keysOf(conversation("kept"));
    expect(await aging.client.pttl(records)).toBeGreaterThan(0);
    expect(await aging.client.pttl(ids)).toBeGreaterThan(await aging.client.pttl(records));
  });
});

describe("maxRecords", () => {
  test("keeps the newest, and a reader of them sees no answer without its question", async () => {
    const { store } = openStore({ maxRecords: 4 });
    const talk = openConversation(store, { owner: "alice", sessionId: "s" });
    const call = { type: "function_call", callId: "c", name: "find", arguments: "{}" } as const;
    const result = { type: "function_result", callId: "c", result: "found" } as const;
    await talk.append([
      { role: "user", contents: "u" },
      { role: "assistant", contents: [call] },
      { role: "tool", contents: [result] },
      { role: "user", contents: "u2" },
      { role: "assistant", contents: "a2" },
    ]);
    expect((await store.read(talk.key)).records).toHaveLength(4);
    const rolesOf = async (last: number) => (await talk.messages({ last })).messages.map(({ role }) => role);
    expect(await rolesOf(4)).toEqual(["assistant", "tool", "user", "assistant"]);
    expect(await rolesOf(3)).toEqual(["user", "assistant"]);
  });

  test("remembers the ids of a thousand more, then forgets them, and the memory stays bounded", async () => {
    const { store, client, keysOf } = openStore({ maxRecords: 10 });
    const ids = Array.from({ length: 3_000 }, (_, index) => `id-${index}`);
    for (let at = 0; at < ids.length; at += 100) {
      await store.append(KEY, recordsOf(...ids.slice(at, at + 100)));
    }
    expect(await client.llen(keysOf(KEY).records)).toBe(10);
    expect(await client.scard(keysOf(KEY).ids)).toBe(1_020);
    expect(await client.llen(keysOf(KEY).removed)).toBe(1_010);
    expect(await store.append(KEY, recordsOf(...ids.slice(-1_010)))).toMatchObject({ appended: 0 });
    expect(await store.append(KEY, recordsOf("id-0"))).toMatchObject({ appended: 1 });
  });

  test("0 keeps nothing, and the conversation has its versions, its ids and its life all the same", async () => {
    const { store, client, keysOf, keyPrefix } = openStore({ maxRecords: 0, ttlSeconds: 60 });
    const first = await store.append(KEY, recordsOf("a", "b"));
    expect(first.appended).toBe(2);
    expect(await store.read(KEY)).toMatchObject({ records: [], version: first.version });
    expect(await store.append(KEY, recordsOf("a", "b"))).toEqual({ version: first.version, appended: 0 });
    const second = await store.append(KEY, recordsOf("c"), { ifVersion: first.version });
    await expect(store.append(KEY, recordsOf("d"), { ifVersion: first.version })).rejects.toMatchObject({
      code: "conflict",
      currentVersion: second.version,
    });
    expect(await client.llen(keysOf(KEY).records)).toBe(1);
    expect(await client.pttl(keysOf(KEY).records)).toBeGreaterThan(0);
    const { store: unlimited } = openStore({ keyPrefix, ttlSeconds: 60 });
    await unlimited.append(KEY, recordsOf("e", "f", "g"));
    expect((await unlimited.read(KEY)).records.map(({ id }) => id)).toEqual(["e", "f", "g"]);
    await store.replace(KEY, { fromId: "f", throughId: "f" }, recordsOf("h"));
    expect((await unlimited.read(KEY, { withFirst: true })).records).toEqual([]);
    expect(await client.pttl(keysOf(KEY).records)).toBeGreaterThan(0);
  });

  test("of 30 appends of 3 at once keeps each three together", async () => {
    const { store, keyPrefix } = openStore();
    const small = openStore({ keyPrefix, maxRecords: 90 }).store;
    const calls = Array.from({ length: 30 }, (_, index) =>
      (index % 2 === 0 ? store : small).append(KEY, recordsOf(`${index}/a`, `${index}/b`, `${index}/c`)),
    );
    await Promise.all(calls);
    const ids = (await store.read(KEY)).records.map(({ id }) => id);
    expect(ids).toHaveLength(90);
    for (let at = 0; at < 90; at += 3) {
      const turn = ids[at]?.split("/")[0];
      expect(ids.slice(at, at + 3)).toEqual([`${turn}/a`, `${turn}/b`, `${turn}/c`]);
    }
  });
});
