import { startFaultProxy, startPgBouncer } from "@agentfw/test-servers";
import pg from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { PostgresHistoryStore } from "../src/index.ts";
import { conversation, idsOf, records, rejection, until } from "./support/conversation.ts";
import { freshSchema, openPool, openStore } from "./support/postgres.ts";

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
  await store.append(conversation(), records("a", 1));
  return { proxy, schema, store };
}

test("a pooler that passes no named statements on is told as configuration, with what to set", async () => {
  const schema = freshSchema();
  const open = (prepare: boolean) =>
    openStore({ schema, connectionString: inject("pgBouncerUrl"), prepare, maxConnections: 8 });
  const unnamed = open(false);
  await unnamed.append(conversation(), records("a", 2));
  const named = open(true);
  const calls = Array.from({ length: 60 }, (_, n) => named.append(conversation(`s${n}`), records("b", 1)));
  const ended = await Promise.allSettled(calls);
  const errors = ended.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) {
    expect(error.code).toBe("configuration");
    expect(error.message).toContain("prepare: false");
  }
  // What was refused was not written, and what was not refused was.
  const stored = await unnamed.list({ owner: "owner-1" });
  expect(stored.items).toHaveLength(1 + calls.length - errors.length);
});

test("nothing of a store stays on a connection that others use next", async () => {
  const store = openStore({ connectionString: inject("pgBouncerUrl"), prepare: false });
  await Promise.all(Array.from({ length: 20 }, (_, n) => store.append(conversation(`s${n}`), records("a", 1))));
  await store.read(conversation("s1"), { last: 1 });
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
  const schema = freshSchema();
  const store = new PostgresHistoryStore({ client }, { schema });
  await client.query("BEGIN");
  await store.append(conversation(), records("a", 2));
  expect(idsOf((await store.read(conversation(), { last: 1 })).records)).toEqual(["a-1"]);
  await client.query("ROLLBACK");
  const error = await rejection(store.read(conversation()));
  expect(error.code).toBe("configuration");
  await store.append(conversation(), records("b", 1));
  await store.close();
  expect((await client.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
});

test("a client of pg in the place of a pool is told from one, and so is a pool in the place of a client", async () => {
  const client = new pg.Client(inject("postgresUrl"));
  onTestFinished(() => client.end());
  const store = Reflect.construct(PostgresHistoryStore, [{ pool: client }, { schema: freshSchema() }]);
  expect(await rejection(store.read(conversation()))).toMatchObject({ code: "configuration" });
  expect(() => Reflect.construct(PostgresHistoryStore, [{ client: openPool() }])).toThrow("pass it as pool");
});

test("a driver that parses numbers and dates in its own way changes nothing", async () => {
  const pool = openPool({ types: { getTypeParser: () => (text: string) => text } });
  const store = new PostgresHistoryStore({ pool }, { schema: freshSchema() });
  await store.append(conversation(), records("a", 2));
  const { items } = await store.list({ owner: "owner-1" });
  expect(Date.now() - Date.parse(items[0]?.updatedAt ?? "")).toBeLessThan(60_000);
  expect(await store.erase({ owner: "owner-1" })).toEqual({ conversations: 1, records: 2 });
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
    const error = await rejection(
      openStore({ connectionString, prepare: false }).append(conversation(), records("a", 1)),
    );
    expect(error.code).toBe(code);
    expect(error.message).not.toContain("no-such");
  });
});

describe("a pooler that loses the server", () => {
  test("under an append is asked again, and the records are stored once", async () => {
    const { proxy, store } = await openBehindPooler();
    proxy.cutNextReply(0);
    await store.append(conversation(), records("b", 2));
    expect(idsOf((await store.read(conversation())).records)).toEqual(["a-0", "b-0", "b-1"]);
  });

  test("under a clear does not know its outcome", async () => {
    const { proxy, schema, store } = await openBehindPooler();
    proxy.cutNextReply(0);
    expect(await rejection(store.clear(conversation()))).toMatchObject({ code: "outcome_unknown", retryable: true });
    expect((await openStore({ schema }).read(conversation())).version).toBe("");
  });

  test("before a statement has one is waited for, and nothing is unknown", async () => {
    const { proxy, store } = await openBehindPooler(1500);
    await proxy.refuse();
    // It keeps a statement until it knows that it can connect to nobody, and then says so at once.
    await until(async () => (await rejection(store.clear(conversation()))).code === "unavailable");
    await proxy.pass();
    const read = () => store.read(conversation()).then(({ records }) => idsOf(records));
    await until(() => read().then(Boolean, () => false));
    expect(await read()).toEqual(["a-0"]);
  });
});
