import { expect, test } from "vitest";
import { PostgresStateStore, type PostgresStateStoreOptions } from "../src/index.ts";
import { ownerKey, tagKey } from "../src/keys.ts";
import { freshSchema, keysOf, named, openPool } from "./support/postgres.ts";
import { recording } from "./support/recording.ts";

/** A store over a pool of one connection that is noted, with its tables made. */
async function openRecorded(options: PostgresStateStoreOptions = {}) {
  const pool = openPool({ max: 1 });
  const recorded = recording(pool);
  const schema = freshSchema();
  const open = () => new PostgresStateStore({ pool: recorded }, { schema, ...options });
  const store = open();
  const { etag } = await store.create("a", "{}", { tags: { kind: "x" } });
  recorded.reset();
  return { pool, recorded, schema, store, etag, open };
}

test("every call is one statement on one connection", async () => {
  const { recorded, store, etag } = await openRecorded({ ttlSeconds: 60 });
  const ignored = () => undefined;
  const calls: Record<string, () => Promise<unknown>> = {
    create: () => store.create("b", "{}", { tags: { kind: "x", phase: "y" } }),
    "create of what is there": () => store.create("b", "{}").catch(ignored),
    set: () => store.set("b", "{}", { tags: { kind: "x", phase: "z" } }),
    "set of what is new": () => store.set("c", "{}", { tags: { kind: "x" } }),
    "set under an etag": () => store.set("a", "{}", { ifMatch: etag }),
    "set under an old etag": () => store.set("a", "{}", { ifMatch: etag }).catch(ignored),
    get: () => store.get("a"),
    "get of nothing": () => store.get("nothing"),
    listKeys: () => store.listKeys(),
    "listKeys by tags": () => store.listKeys({ tags: { kind: "x", phase: "z" }, order: "desc" }),
    delete: () => store.delete("a"),
    "delete of nothing": () => store.delete("a"),
  };
  for (const [name, call] of Object.entries(calls)) {
    recorded.reset();
    await call();
    expect(recorded.sent.length, name).toBe(1);
    expect(recorded.mostLent, name).toBe(1);
  }
});

test("a pool of one connection is enough for any number of calls at once", async () => {
  const { recorded, store, open } = await openRecorded();
  const stores = [store, open(), open()];
  await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const one = stores[index % 3]!;
      await one.create(`item-${index}`, "{}");
      await one.get(`item-${index}`);
      await one.listKeys({ limit: 3 });
      await one.deleteExpired();
      await one.verifySchema();
    }),
  );
  expect(await keysOf(store)).toHaveLength(61);
  expect(recorded.mostLent).toBe(1);
});

test("a further start asks two questions, once, before anything else", async () => {
  const { recorded, open } = await openRecorded();
  const store = open();
  await Promise.all([store.get("a"), store.get("b"), store.listKeys()]);
  expect(recorded.sent).toHaveLength(5);
  for (const { text } of recorded.sent.slice(0, 2)) {
    expect(text).toContain("state_layout");
  }
});

test("statements have names that stand for their texts, unless prepare is false", async () => {
  const { recorded, store, pool } = await openRecorded();
  await store.create("b", "{}");
  await store.set("b", "{}");
  await store.get("b");
  await store.listKeys();
  await store.listKeys({ tags: { kind: "x" }, order: "desc" });
  await store.delete("b");
  const names = recorded.sent.map(({ name }) => name);
  expect(new Set(names).size).toBe(4);
  expect(names.every((name) => name !== undefined && name.length < 64)).toBe(true);
  const { rows } = await pool.query("SELECT name FROM pg_prepared_statements");
  expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(names));

  recorded.reset();
  const unnamed = new PostgresStateStore({ pool: recorded }, { schema: freshSchema(), prepare: false });
  await unnamed.create("b", "{}");
  await unnamed.get("b");
  expect(recorded.sent.filter(({ name }) => name !== undefined)).toEqual([]);
});

test("a page is looked for by an index in its order, whatever the planner knows of other owners", async () => {
  const { pool, schema, store } = await openRecorded();
  const [owner, common, rare] = [ownerKey("big"), tagKey("big", "kind", "x"), tagKey("big", "phase", "y")];
  // Most owners have a few items, and that is what the planner has seen when one of them grows.
  const insert = `INSERT INTO ${named(schema, "item")} (k, owner_key, owner, key, etag, tags, tag_keys, value, updated_at)`;
  await pool.query(
    `${insert} SELECT gen_random_uuid(), md5((g % 4000)::text)::uuid, 'o', g::text, 'e', '{}', '{}', '{}', now()
     FROM generate_series(1, 20000) AS g`,
  );
  await pool.query(`ANALYZE ${named(schema, "item")}; ANALYZE ${named(schema, "tag")}`);
  await pool.query(
    `${insert} SELECT gen_random_uuid(), $1, 'big', g::text, 'e', '{}',
     CASE WHEN g % 1000 = 0 THEN ARRAY[$2, $3]::uuid[] ELSE ARRAY[$2]::uuid[] END, '{}', now()
     FROM generate_series(1, 20000) AS g`,
    [owner, common, rare],
  );
  await pool.query(
    `INSERT INTO ${named(schema, "tag")} SELECT t, seq, k FROM ${named(schema, "item")}, unnest(tag_keys) AS t WHERE owner = 'big'`,
  );
  const both = { owner: "big", tags: { kind: "x", phase: "y" } };
  expect(await keysOf(store, { ...both, limit: 7 })).toEqual(
    Array.from({ length: 20 }, (_, n) => String((n + 1) * 1000)),
  );
  await pool.query("SET plan_cache_mode = force_custom_plan");
  const buffers = async (tags: string[], isDescending: boolean) => {
    const call = `${named(schema, "list_v1")}('${owner}', '{${tags.join()}}', ${isDescending}, NULL, 21)`;
    const { rows } = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM ${call}`);
    const plan = rows[0]["QUERY PLAN"][0].Plan;
    expect(plan["Actual Rows"]).toBeGreaterThan(19);
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
  };
  for (const isDescending of [false, true]) {
    for (const tags of [[], [common], [common, rare], [rare, common]]) {
      // A first call in a connection reads the catalog too.
      await buffers(tags, isDescending);
      // Walking all that the owner has is 60,000.
      expect(await buffers(tags, isDescending), `${tags.length} tags`).toBeLessThan(400);
    }
  }
});
