import { escapeText, unescapeText } from "@agentfw/core/backend";
import { describe, expect, test } from "vitest";
import { conversation, idsOf, records, rejection } from "./support/conversation.ts";
import { freshSchema, named, openPool, openStore } from "./support/postgres.ts";

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

  test("may be owners, sources, sessions and ids, and data holds their escapes", async () => {
    const store = openStore();
    for (const text of TEXTS) {
      const key = { owner: text, source: text, session: text };
      const data = JSON.stringify({ text, twice: [text, text] });
      await store.append(key, [{ id: text, data }]);
      expect((await store.read(key, { withFirst: true })).first).toEqual({ id: text, data });
      expect((await store.list({ owner: text, source: text })).items.map((item) => item.key)).toEqual([key]);
      await store.replace(key, { fromId: text, throughId: text }, [{ id: `${text}2`, data }]);
      expect((await store.read(key)).records).toEqual([{ id: `${text}2`, data }]);
    }
    expect((await store.list({ allOwners: true })).items).toHaveLength(TEXTS.length);
  });
});

describe("one large append", () => {
  test("keeps 15,000 records of every kind of JSON in order", async () => {
    const store = openStore({ timeoutMs: 60_000 });
    const kinds = ["[]", '["a"]', '"plain"', "null", "{}", "1.0", '"\\u0000\\ud83d"', '{"k":"{\\"a\\":1}"}'];
    const many = Array.from({ length: 15_000 }, (_, n) => ({ id: `m-${n}`, data: kinds[n % kinds.length] ?? "" }));
    await store.append(conversation(), many);
    const { records: stored } = await store.read(conversation());
    expect(stored).toEqual(many);
    expect((await store.read(conversation(), { last: 5 })).records).toEqual(many.slice(-5));
  });

  test("is undone as a whole when its last record fails", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, timeoutMs: 60_000 });
    const { version } = await store.append(conversation(), records("a", 2));
    const pool = openPool();
    const record = named(schema, "record");
    await pool.query(`ALTER TABLE ${record} ADD CONSTRAINT disk CHECK (id <> 'm-14999')`);
    const many = records("m", 15_000);
    for (const call of [
      () => store.append(conversation(), many),
      () => store.append(conversation("new"), many),
      () => store.replace(conversation(), { fromId: "a-0", throughId: "a-1" }, many),
    ]) {
      expect(await rejection(call())).toMatchObject({ code: "configuration" });
    }
    const page = await store.read(conversation());
    expect(idsOf(page.records)).toEqual(["a-0", "a-1"]);
    expect(page.version).toBe(version);
    expect((await store.read(conversation("new"))).version).toBe("");
    expect((await pool.query(`SELECT count(*)::int AS n FROM ${record}`)).rows).toEqual([{ n: 2 }]);
  });
});

describe("positions", () => {
  test("stay in order through replaces of every size, and cursors to what is gone are conflicts", async () => {
    const store = openStore();
    let expected = idsOf(records("a", 12));
    await store.append(conversation(), records("a", 12));
    const { older } = await store.read(conversation(), { last: 3 });
    for (const [turn, [from, through, count]] of [
      [2, 4, 9],
      [0, 5, 1],
      [3, 3, 2],
      [1, 2, 0],
      [0, 0, 4],
      [6, 8, 20],
    ].entries()) {
      const run = { fromId: expected[from!] ?? "", throughId: expected[through!] ?? "" };
      await store.replace(conversation(), run, records(`r${turn}`, count!));
      expected = expected.toSpliced(from!, through! - from! + 1, ...idsOf(records(`r${turn}`, count!)));
      await store.append(conversation(), records(`after-${turn}`, 2));
      expected.push(...idsOf(records(`after-${turn}`, 2)));
      const { records: stored } = await store.read(conversation());
      expect(idsOf(stored)).toEqual(expected);
      expect(idsOf((await store.read(conversation(), { last: 7 })).records)).toEqual(expected.slice(-7));
    }
    expect(await rejection(store.read(conversation(), { before: older, last: 1 }))).toMatchObject({ code: "conflict" });
    expect(await rejection(store.read(conversation("none"), { before: older }))).toMatchObject({ code: "conflict" });
    const again = await store.append(conversation(), records("a", 12));
    expect(again.appended).toBe(0);
  });

  test("left over by a row that somebody deleted by hand do not come back", async () => {
    const schema = freshSchema();
    const store = openStore({ schema });
    await store.append(conversation(), records("a", 3));
    await openPool().query(`DELETE FROM ${named(schema, "conversation")}`);
    expect(await store.read(conversation())).toEqual({ records: [], version: "" });
    expect((await store.append(conversation(), records("a", 2))).appended).toBe(2);
    expect((await store.read(conversation())).records).toHaveLength(2);
  });

  test("a record that is empty, cut or overwritten is corrupt by its position", async () => {
    const schema = freshSchema();
    const store = openStore({ schema });
    await store.append(conversation(), records("a", 3));
    const pool = openPool();
    for (const data of ["", '{"cut', '"', "nonsense", "{]"]) {
      await pool.query(`UPDATE ${named(schema, "record")} SET data = $1 WHERE id = 'a-0'`, [data]);
      const error = await rejection(store.read(conversation()));
      expect(error).toMatchObject({ code: "corrupt", position: expect.stringMatching(/^seq \d+$/) });
      expect((await store.read(conversation(), { last: 2 })).records).toHaveLength(2);
      const first = store.read(conversation(), { last: 2, withFirst: true });
      expect(await rejection(first)).toMatchObject({ code: "corrupt" });
      const page = await store.read(conversation(), { withFirst: true, onCorrupt: "skip" });
      expect([page.records.length, page.first, page.corrupt]).toEqual([2, undefined, [error.position]]);
    }
  });
});
