import { expect, test } from "vitest";
import { PostgresHistoryStore, type PostgresHistoryStoreOptions } from "../src/index.ts";
import { conversationKey } from "../src/keys.ts";
import { conversation, idsOf, records } from "./support/conversation.ts";
import { freshSchema, named, openPool } from "./support/postgres.ts";
import { recording } from "./support/recording.ts";

/** A store over a pool of one connection that is noted, with its tables made. */
async function openRecorded(options: PostgresHistoryStoreOptions = {}) {
  const pool = openPool({ max: 1 });
  const recorded = recording(pool);
  const schema = freshSchema();
  const open = () => new PostgresHistoryStore({ pool: recorded }, { schema, ...options });
  const store = open();
  await store.append(conversation(), records("a", 3));
  recorded.reset();
  return { pool, recorded, schema, store, open };
}

test("every call is one statement on one connection", async () => {
  const { recorded, store } = await openRecorded({ ttlSeconds: 60 });
  const { version } = await store.read(conversation());
  const calls: Record<string, () => Promise<unknown>> = {
    append: () => store.append(conversation(), records("b", 2)),
    "append that is repeated": () => store.append(conversation(), records("b", 2)),
    "append under a version": () =>
      store.append(conversation(), records("c", 2), { ifVersion: version }).catch(() => 0),
    "first append": () => store.append(conversation("new"), records("a", 2)),
    "append of nothing": () => store.append(conversation(), []),
    read: () => store.read(conversation(), { last: 20 }),
    "read of all": () => store.read(conversation()),
    "read with the first record": () => store.read(conversation(), { last: 1, withFirst: true }),
    replace: () => store.replace(conversation(), { fromId: "a-0", throughId: "a-1" }, records("summary", 1)),
    list: () => store.list({ owner: "owner-1" }),
    clear: () => store.clear(conversation()),
  };
  for (const [name, call] of Object.entries(calls)) {
    recorded.reset();
    await call();
    expect(recorded.sent.length, name).toBe(1);
    expect(recorded.mostLent, name).toBe(1);
  }
});

test("reading older pages is one statement each", async () => {
  const { recorded, store } = await openRecorded();
  const { older } = await store.read(conversation(), { last: 1 });
  recorded.reset();
  const page = await store.read(conversation(), { last: 5, before: older, withFirst: true });
  expect(idsOf(page.records)).toEqual(["a-0", "a-1"]);
  expect(page.first?.id).toBe("a-0");
  expect(recorded.sent).toHaveLength(1);
});

test("a pool of one connection is enough for any number of calls at once", async () => {
  const { recorded, store, open } = await openRecorded();
  const stores = [store, open(), open()];
  await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const one = stores[index % 3]!;
      await one.append(conversation(), records(`b${index}`, 2));
      await one.read(conversation(), { last: 3 });
      await one.list({ owner: null });
      await one.deleteExpired();
      await one.verifySchema();
    }),
  );
  expect((await store.read(conversation())).records).toHaveLength(123);
  expect(recorded.mostLent).toBe(1);
});

test("a further start asks two questions, once, before anything else", async () => {
  const { recorded, open } = await openRecorded();
  const store = open();
  await Promise.all([store.read(conversation()), store.read(conversation("other")), store.list({ owner: null })]);
  expect(recorded.sent).toHaveLength(5);
  for (const { text } of recorded.sent.slice(0, 2)) {
    expect(text).toContain("history_layout");
  }
  recorded.reset();
  await store.read(conversation());
  expect(recorded.sent).toHaveLength(1);
});

test("what is stored is sent as it is, whatever characters it holds", async () => {
  const { recorded, store } = await openRecorded();
  const some = ['"\\"{},\\\\ NULL"', "null", '{"a":"\\n"}'].map((data, index) => ({ id: `"${index}\\`, data }));
  await store.append(conversation("quoted"), some);
  // No array, whose elements the driver would escape once more.
  const values = recorded.sent[0]?.values ?? [];
  expect(values.filter((value) => typeof value === "object" && value !== null)).toEqual([]);
  expect(values).toContain(some.map(({ data }) => data).join("\n"));
  expect((await store.read(conversation("quoted"))).records).toEqual(some);
  await store.replace(conversation("quoted"), { fromId: some[0]!.id, throughId: some[1]!.id }, []);
  expect((await store.read(conversation("quoted"))).records).toEqual(some.slice(2));
});

test("statements have names that stand for their texts, unless prepare is false", async () => {
  const { recorded, store, open, pool } = await openRecorded();
  await store.append(conversation(), records("b", 1));
  await store.read(conversation(), { last: 20 });
  await store.read(conversation(), { last: 21 });
  await store.clear(conversation("other"));
  const names = recorded.sent.map(({ name }) => name);
  expect(new Set(names).size).toBe(3);
  expect(names.every((name) => name !== undefined && name.length < 64)).toBe(true);
  const { rows } = await pool.query("SELECT name FROM pg_prepared_statements");
  expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(names));

  recorded.reset();
  const unnamed = new PostgresHistoryStore({ pool: recorded }, { schema: freshSchema(), prepare: false });
  await unnamed.append(conversation(), records("b", 1));
  await unnamed.read(conversation(), { last: 20 });
  expect(recorded.sent.filter(({ name }) => name !== undefined)).toEqual([]);
  expect((await open().read(conversation())).records).toHaveLength(4);
});

test("the newest records are looked for from the end, whatever the planner knows of other conversations", async () => {
  const { pool, schema, store } = await openRecorded();
  const record = named(schema, "record");
  // Most conversations are short, and that is what the planner has seen when one of them grows.
  await pool.query(
    `INSERT INTO ${record} SELECT md5((g % 2000)::text)::uuid, g, g::text, '1' FROM generate_series(1, 20000) g`,
  );
  await pool.query(`ANALYZE ${record}`);
  await pool.query("SET plan_cache_mode = force_custom_plan");
  await store.append(conversation("long"), records("a", 20_000));
  for (let times = 0; times < 10; times += 1) {
    const read = `SELECT * FROM ${named(schema, "read_v1")}($1, 21, NULL, false)`;
    const key = conversationKey(conversation("long"));
    const { rows } = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${read.replace("$1", `'${key}'`)}`);
    const plan = rows[0]["QUERY PLAN"][0]["Plan"];
    expect(plan["Actual Rows"]).toBe(22);
    // A first call in a connection reads the catalog too. All of the conversation is some hundreds of pages.
    expect(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]).toBeLessThan(times === 0 ? 1000 : 50);
  }
});
