import pg from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { PostgresStateStore } from "../src/index.ts";
import { freshSchema, keysOf, openPool, openStore, rejection } from "./support/postgres.ts";

test("a pooler that passes no named statements on is told as configuration, with what to set", async () => {
  const schema = freshSchema();
  const open = (prepare: boolean) =>
    openStore({ schema, connectionString: inject("pgBouncerUrl"), prepare, maxConnections: 8 });
  const unnamed = open(false);
  await unnamed.create("first", "{}");
  const named = open(true);
  const calls = Array.from({ length: 60 }, (_, n) => named.create(`item-${n}`, "{}"));
  const ended = await Promise.allSettled(calls);
  const errors = ended.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) {
    expect(error.code).toBe("configuration");
    expect(error.message).toContain("prepare: false");
  }
  // What was refused was not written, and what was not refused was.
  expect(await keysOf(unnamed)).toHaveLength(1 + calls.length - errors.length);
});

test("nothing of a store stays on a connection that others use next", async () => {
  const store = openStore({ connectionString: inject("pgBouncerUrl"), prepare: false });
  await Promise.all(Array.from({ length: 20 }, (_, n) => store.create(`item-${n}`, "{}")));
  await store.listKeys({ tags: { kind: "x" } });
  const pool = openPool({ connectionString: inject("pgBouncerUrl"), max: 5 });
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      const { rows } = await pool.query(
        `SELECT current_setting('enable_sort') AS sort, current_setting('search_path') AS path,
         (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks`,
      );
      expect(rows).toEqual([{ sort: "on", path: '"$user", public', locks: 0 }]);
    }),
  );
});

test("one connected client of pg serves, also in a transaction of its owner", async () => {
  const client = new pg.Client(inject("postgresUrl"));
  await client.connect();
  onTestFinished(() => client.end());
  const store = new PostgresStateStore({ client }, { schema: freshSchema() });
  await client.query("BEGIN");
  const { etag } = await store.create("a", "{}", { tags: { kind: "x" } });
  expect((await store.get("a"))?.etag).toBe(etag);
  expect(await keysOf(store, { tags: { kind: "x" } })).toEqual(["a"]);
  await client.query("ROLLBACK");
  expect(await rejection(store.get("a"))).toMatchObject({ code: "configuration" });
  await store.create("b", "{}");
  await store.close();
  expect((await client.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
});

test("a driver that parses numbers and dates in its own way changes nothing", async () => {
  const pool = openPool({ types: { getTypeParser: () => (text: string) => text } });
  const store = new PostgresStateStore({ pool }, { schema: freshSchema() });
  for (const key of ["a", "b", "c"]) {
    await store.create(key, "{}", { tags: { kind: "x" } });
  }
  expect(await keysOf(store, { limit: 1, tags: { kind: "x" } })).toEqual(["a", "b", "c"]);
  await store.verifySchema();
  expect(await store.erase({ owner: null })).toEqual({ items: 3 });
});
