import { escapeText, unescapeText } from "@agentfw/core/backend";
import { describe, expect, test } from "vitest";
import { itemKey, ownerKey, tagKey } from "../src/keys.ts";
import { age, freshSchema, keysOf, named, openPool, openStore, rejection } from "./support/postgres.ts";

const TEXTS = [
  "a\0b",
  "\ud83d",
  "\ude00x",
  "a\\u0000b",
  "\\",
  "\\\\u005c",
  "a\nb",
  "😀",
  " ",
  "'",
  '"',
  "{a,b}",
  "NULL",
  "\\n",
];

describe("texts that the server cannot hold", () => {
  test("are stored by an escape that gives them back", () => {
    const encoded = TEXTS.map(escapeText);
    expect(encoded.map(unescapeText)).toEqual(TEXTS);
    expect(new Set(encoded).size).toBe(TEXTS.length);
    expect(encoded.filter((text) => /[\0\n]/.test(text) || !text.isWellFormed())).toEqual([]);
    expect(escapeText("plain")).toBe("plain");
  });

  test("may be owners, keys, tags and etags to match, and values hold their escapes", async () => {
    const store = openStore();
    for (const text of TEXTS) {
      const value = JSON.stringify({ [text]: text });
      const tags = { [text]: text, constructor: text };
      const { etag } = await store.create(text, value, { owner: text, tags });
      expect(await store.get(text, { owner: text })).toEqual({ key: text, text: value, etag, tags });
      expect((await store.listKeys({ owner: text, tags })).keys).toEqual([{ key: text, etag, tags }]);
      const conflict = store.set(text, "{}", { owner: text, ifMatch: text });
      expect(await rejection(conflict)).toMatchObject({ code: "conflict", currentVersion: etag });
    }
  });

  test("as a tag named __proto__ are a tag like any other", async () => {
    const store = openStore();
    const tags = JSON.parse('{"__proto__":"x","kind":"y"}');
    await store.create("a", "{}", { tags });
    expect(Object.entries((await store.get("a"))?.tags ?? {})).toEqual(Object.entries(tags));
    expect(await keysOf(store, { tags: JSON.parse('{"__proto__":"x"}') })).toEqual(["a"]);
    expect(await keysOf(store, { tags: { kind: "y" } })).toEqual(["a"]);
  });
});

describe("what is looked for by", () => {
  test("differs for any two owners, keys and tags", () => {
    const owners = [null, "", "a", "null", "a,b"];
    expect(new Set(owners.map(ownerKey)).size).toBe(owners.length);
    const names = ["a", "b", '","', "a\\"];
    const items = owners.flatMap((owner) => names.map((name) => itemKey(owner, name)));
    const tags = owners.flatMap((owner) => names.flatMap((name) => names.map((value) => tagKey(owner, name, value))));
    expect(new Set([...items, ...tags]).size).toBe(items.length + tags.length);
  });
});

describe("tags", () => {
  test("of one set are the same in any order, and a write that keeps them touches none", async () => {
    const schema = freshSchema();
    const store = openStore({ schema });
    await store.create("a", "{}", { tags: { kind: "x", phase: "y", "10": "z" } });
    const rows = async () => (await openPool().query(`SELECT xmin, t FROM ${named(schema, "tag")} ORDER BY t`)).rows;
    const before = await rows();
    expect(before).toHaveLength(3);
    await store.set("a", '{"b":1}', { tags: { "10": "z", phase: "y", kind: "x" } });
    expect(await rows()).toEqual(before);
    await store.set("a", '{"b":1}', { tags: { kind: "x" } });
    expect(await rows()).toHaveLength(1);
  });
});

describe("the order", () => {
  test("is that of creation, and stays when an item is written again", async () => {
    const store = openStore();
    const keys = ["c", "a", "b", "d"];
    for (const key of keys) {
      await store.create(key, "{}");
    }
    await store.set("a", '{"again":1}', { tags: { kind: "x" } });
    await store.set("b", '{"again":1}');
    expect(await keysOf(store, { limit: 1 })).toEqual(keys);
    await store.delete("a");
    await store.create("a", "{}");
    expect(await keysOf(store, { limit: 3, order: "desc" })).toEqual(["a", "d", "b", "c"]);
  });
});

describe("a cursor", () => {
  test("to either end of all positions gives what is behind it", async () => {
    const store = openStore();
    const tags = { kind: "x", phase: "y" };
    await store.create("a", "{}", { tags });
    for (const filter of [undefined, { kind: "x" }, tags]) {
      for (const [cursor, forwards, backwards] of [
        ["0", 1, 0],
        ["9223372036854775806", 0, 1],
      ] as const) {
        expect((await store.listKeys({ tags: filter, cursor })).keys).toHaveLength(forwards);
        expect((await store.listKeys({ tags: filter, cursor, order: "desc" })).keys).toHaveLength(backwards);
      }
    }
  });
});

describe("several tags at once", () => {
  test("give every item that has all of them, in either order, page by page, past those that expired", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, ttlSeconds: 7200 });
    const expected: string[] = [];
    for (let n = 0; n < 60; n += 1) {
      const tags = { two: String(n % 2), three: String(n % 3), five: String(n % 5) };
      await store.create(n % 4 === 0 ? `old-${n}` : `item-${n}`, "{}", { tags });
      expected.push(...(n % 6 === 1 && n % 4 !== 0 ? [`item-${n}`] : []));
    }
    await age(schema, "old-%");
    for (const limit of [1, 2, 100]) {
      const tags = { two: "1", three: "1" };
      expect(await keysOf(store, { tags, limit })).toEqual(expected);
      expect(await keysOf(store, { tags, limit, order: "desc" })).toEqual(expected.toReversed());
      expect(await keysOf(store, { tags: { ...tags, five: "3" }, limit })).toEqual(["item-13", "item-43"]);
      expect(await keysOf(store, { tags: { two: "0", three: "0", five: "0" }, limit })).toEqual(["item-30"]);
      expect(await keysOf(store, { tags: { ...tags, none: "x" }, limit })).toEqual([]);
    }
  });
});

describe("what somebody damaged by hand", () => {
  test("is corrupt and stays, and never reads as absent", async () => {
    const schema = freshSchema();
    const store = openStore({ schema });
    await store.create("a", '{"b":1}');
    const pool = openPool();
    const damage = (column: string, text: string) =>
      pool.query(`UPDATE ${named(schema, "item")} SET ${column} = $1`, [text]);
    for (const value of ["", '{"cut', "[]", "nonsense"]) {
      await damage("value", value);
      expect(await rejection(store.get("a"))).toMatchObject({
        code: "corrupt",
        position: "value",
        message: "[state-postgres] get: the value of an item cannot be read",
      });
    }
    for (const tags of ["", "[]", '{"kind":5}']) {
      await damage("tags", tags);
      expect(await rejection(store.get("a"))).toMatchObject({ code: "corrupt", position: "tags" });
      expect(await rejection(store.listKeys())).toMatchObject({ code: "corrupt", position: "tags" });
    }
    // The next write replaces all of it.
    const { etag } = await store.set("a", "{}");
    expect(await store.get("a")).toEqual({ key: "a", text: "{}", etag, tags: {} });
  });

  test("an item without its row has no tags that lead to it, and begins anew", async () => {
    const schema = freshSchema();
    const store = openStore({ schema });
    const tags = { kind: "x" };
    await store.create("a", "{}", { tags });
    await openPool().query(`DELETE FROM ${named(schema, "item")}`);
    expect(await keysOf(store, { tags })).toEqual([]);
    await store.create("a", "{}", { tags });
    expect(await keysOf(store, { tags })).toEqual(["a"]);
  });
});

test("a text of the largest size comes back, and one more byte is refused", async () => {
  const store = openStore({ maxValueBytes: 3_000_000, timeoutMs: 60_000 });
  const text = JSON.stringify({ a: "é".repeat(1_499_996) });
  expect(Buffer.byteLength(text)).toBe(3_000_000);
  await store.create("a", text);
  expect((await store.get("a"))?.text).toBe(text);
  expect(await rejection(store.set("a", text.replace('"}', 'x"}')))).toMatchObject({ code: "too_large" });
});
