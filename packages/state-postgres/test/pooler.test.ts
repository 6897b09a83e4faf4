import { startFaultProxy, startPgBouncer } from "@agentfw/test-servers";
import pg from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { PostgresStateStore } from "../src/index.ts";
import { freshSchema, keysOf, openPool, openStore, rejection, until } from "./support/postgres.ts";

/** A store behind PgBouncer behind a proxy, with its tables made. */
async function openBehindPooler(timeoutMs = 8000) {
  const url = new URL(inject("postgresUrl"));
  const proxy = await startFaultProxy({ host: url.hostname, port: Number(url.port) });
  onTestFinished(() => proxy.close());
  url.host = `127.0.0.1:${proxy.port}`;
  const pooler = await startPgBouncer(url.href, { settings: { server_login_retry: "1" } });
  onTestFinished(() => pooler.stop());
  const schema = freshSchema();
  const store = openStore({ schema, connectionString: pooler.url, prepare: false, timeoutMs });
  await store.create("a", "{}");
  return { proxy, schema, store };
}

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

test("a client of pg in the place of a pool is told from one, and so is a pool in the place of a client", async () => {
  const client = new pg.Client(inject("postgresUrl"));
  onTestFinished(() => client.end());
  const store = Reflect.construct(PostgresStateStore, [{ pool: client }, { schema: freshSchema() }]);
  expect(await rejection(store.get("a"))).toMatchObject({ code: "configuration" });
  expect(() => Reflect.construct(PostgresStateStore, [{ client: openPool() }])).toThrow("pass it as pool");
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

describe("a pooler that lets nobody in", () => {
  test.each([
    ["a database that does not exist", { pathname: "/no-such-database" }, "configuration"],
    ["a setting that it does not take", { search: "?options=-c%20app.tenant%3Dacme" }, "configuration"],
    ["a user that it does not know", { username: "no-such-user", password: "secret" }, "unauthorized"],
  ] as const)("is told apart from an outage: %s", async (_, parts, code) => {
    const settings = {
      ignore_startup_parameters: "extra_float_digits",
      ...("username" in parts ? { auth_type: "md5" } : {}),
    };
    const pooler = await startPgBouncer(inject("postgresUrl"), { settings });
    onTestFinished(() => pooler.stop());
    const connectionString = Object.assign(new URL(pooler.url), parts).href;
    const error = await rejection(openStore({ connectionString, prepare: false }).create("a", "{}"));
    expect(error.code).toBe(code);
    expect(error.message).not.toContain("no-such");
  });
});

describe("a pooler that loses the server", () => {
  test("under a create does not know its outcome", async () => {
    const { proxy, schema, store } = await openBehindPooler();
    proxy.cutNextReply(0);
    expect(await rejection(store.create("b", "{}"))).toMatchObject({ code: "outcome_unknown", retryable: true });
    expect(await keysOf(openStore({ schema }))).toEqual(["a", "b"]);
  });

  test("under a write with an etag is asked again, and it is no conflict with itself", async () => {
    const { proxy, store } = await openBehindPooler();
    const { etag } = (await store.get("a")) ?? {};
    proxy.cutNextReply(0);
    const written = await store.set("a", '{"b":1}', { ifMatch: etag });
    expect((await store.get("a"))?.etag).toBe(written.etag);
  });

  test("before a statement has one is waited for, and nothing is unknown", async () => {
    const { proxy, store } = await openBehindPooler(1500);
    await proxy.refuse();
    // It keeps a statement until it knows that it can connect to nobody, and then says so at once.
    await until(async () => (await rejection(store.create("b", "{}"))).code === "unavailable");
    await proxy.pass();
    await until(() => keysOf(store).then(Boolean, () => false));
    expect(await keysOf(store)).toEqual(["a"]);
  });
});
