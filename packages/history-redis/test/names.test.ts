import { createHash } from "node:crypto";
import type { HistoryKey } from "@agentfw/core";
import { describe, expect, inject, test } from "vitest";
import { RedisHistoryStore } from "../src/index.ts";
import { BUCKETS, conversationKeys } from "../src/keys.ts";
import { codeOf, conversation, keysBelow, openClient, openStore } from "./support/redis.ts";
import { freshPrefix, openCluster } from "./support/stores.ts";

const LONG = "x".repeat(600);

const SESSIONS = [
  ...["a", "a:b", "a/b", "a_b", "{x}", "{}", "}{", "..", "A", "😀", LONG, `${LONG.slice(0, 255)}y`],
  ...[
    "*",
    "?",
    "[a-z]",
    "[^a]",
    "\\*",
    "\\",
    "a\u0000b",
    "\u0000",
    "\ud83d",
    "\udc00",
    "é",
    "e\u0301",
    " ",
    "\n",
    '"',
    "'",
  ],
  ...['","', "%", "%00", "undefined", "null", "__proto__", "constructor", "h:{1}:x", "|", "$", "\u2028", "{42}"],
];

const OWNERS = [null, "", "null", "t", "1:2", "t:1", "2", "*", "{x}", "\ud83d", '["t"'];

/** Each of them is a conversation of its own. */
function hostileKeys(): HistoryKey[] {
  const sessions = SESSIONS.flatMap((session) => ["main", "audit"].map((source) => ({ owner: "t", source, session })));
  const owners = OWNERS.filter((owner) => owner !== "t").map((owner) => ({ owner, source: "main", session: "a" }));
  const joined = [
    { owner: "a", source: "b:c", session: "d" },
    { owner: "a:b", source: "c", session: "d" },
    { owner: 'a","b', source: "c", session: "d" },
  ];
  return [...sessions, ...owners, ...joined];
}

const recordOf = (index: number) => ({ id: "1", data: JSON.stringify({ index }) });

describe.each(["node", "cluster"] as const)("conversations with hostile names (%s)", (kind) => {
  test("are kept apart, found by list, and cleared one by one", async () => {
    const keyPrefix = freshPrefix();
    const client = kind === "node" ? openClient() : openCluster();
    try {
      const store = new RedisHistoryStore({ client }, { keyPrefix, ttlSeconds: 60 });
      const keys = hostileKeys();
      await Promise.all(keys.map((key, index) => store.append(key, [recordOf(index)])));
      const pages = await Promise.all(keys.map((key) => store.read(key)));
      expect(pages.map(({ records }) => records)).toEqual(keys.map((_, index) => [recordOf(index)]));
      const listed = (await store.list({ allOwners: true }, { limit: 1000 })).items.map(({ key }) => key);
      const textOf = (key: HistoryKey) => JSON.stringify([key.owner, key.source, key.session]);
      expect(listed.map(textOf).sort()).toEqual(keys.map(textOf).sort());
      const removed = keys.filter(({ session, source }) => source === "audit" || session === "*");
      for (const key of removed) {
        await store.clear(key);
      }
      const after = await Promise.all(keys.map((key) => store.read(key)));
      expect(after.map(({ records }) => records.length)).toEqual(keys.map((key) => (removed.includes(key) ? 0 : 1)));
    } finally {
      client.disconnect();
    }
  });
});

describe("a glob", () => {
  test("as a name matches nothing but itself, and touches nothing else", async () => {
    const { store, client, keyPrefix } = openStore();
    await store.append(conversation("alpha"), [recordOf(1)]);
    await store.append(conversation("beta", "bob"), [recordOf(2)]);
    const digest = async () => {
      const keys = await keysBelow(client, keyPrefix);
      const dumps = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
      return keys.map((key, at) => [
        key,
        createHash("sha1")
          .update(dumps[at] ?? "")
          .digest("hex"),
      ]);
    };
    const before = await digest();
    for (const glob of ["*", "a*", "?lpha", "[a-b]*", "*}*", "\\*"]) {
      for (const key of [conversation(glob), conversation("alpha", glob), { ...conversation("alpha"), source: glob }]) {
        expect(await store.read(key)).toEqual({ records: [], version: "" });
        await store.clear(key);
        expect((await store.list({ owner: glob })).items).toEqual([]);
      }
    }
    expect((await store.list({ owner: "alice", source: "*" })).items).toEqual([]);
    expect(await digest()).toEqual(before);
  });
});

describe("keys", () => {
  test("of one conversation and its index are in one slot", async () => {
    const [url] = inject("redisClusterUrls");
    const client = openClient(url);
    for (const key of hostileKeys()) {
      const keys = Object.values(conversationKeys("p", key));
      const slots = await Promise.all(keys.map((one) => client.call("cluster", ["keyslot", one])));
      expect(new Set(slots).size).toBe(1);
    }
  });

  test("are spread over all buckets, always the same way", () => {
    const bucketOf = (session: string) => {
      const [, bucket] = /\{(\d+)\}/.exec(conversationKeys("p", conversation(session)).records) ?? [];
      return Number(bucket);
    };
    const counts = new Map<number, number>();
    for (let index = 0; index < 12_800; index += 1) {
      const bucket = bucketOf(`session-${index}`);
      counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
    }
    expect(counts.size).toBe(BUCKETS);
    expect(Math.max(...counts.values())).toBeLessThan(200);
    // Where a conversation is may never change within a layout.
    expect(["support-1", "😀", ""].map(bucketOf)).toMatchInlineSnapshot(`
      [
        61,
        127,
        70,
      ]
    `);
  });

  test.each([
    { owner: "a", source: "main", session: "" },
    { owner: "a", source: "", session: "s" },
    { owner: 7, source: "main", session: "s" },
    { owner: undefined, source: "main", session: "s" },
    { owner: "a", source: "main", session: ["s"] },
    { owner: "a", source: "main" },
  ])("that are none are refused before anything is sent: %j", async (key) => {
    const store = new RedisHistoryStore({ client: { call: () => Promise.reject(new Error("was sent")) } });
    for (const method of ["append", "read", "clear"] as const) {
      expect(await codeOf(Reflect.apply(store[method], store, [key, [recordOf(1)]]))).toBe("configuration");
    }
  });

  test("in use are remembered without mixing them up, also when there are too many", async () => {
    const { store } = openStore();
    const keys = Array.from({ length: 1_500 }, (_, index) => conversation(`s${index % 750}`, index < 750 ? "a" : "b"));
    await Promise.all(keys.map((key, index) => store.append(key, [recordOf(index)])));
    const pages = await Promise.all(keys.map((key) => store.read(key)));
    expect(pages.map(({ records }) => records)).toEqual(keys.map((_, index) => [recordOf(index)]));
  });
});
