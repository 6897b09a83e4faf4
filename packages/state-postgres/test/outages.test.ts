import { startFaultProxy } from "@agentfw/test-servers";
import pg from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { PostgresStateStore, type PostgresStateStoreOptions } from "../src/index.ts";
import { itemKey } from "../src/keys.ts";
import { freshSchema, keysOf, named, openPool, openStore, rejection, until, urlWith } from "./support/postgres.ts";

/** A store behind a proxy, with its tables made, and one beside it. */
async function openProxied(options: PostgresStateStoreOptions = {}) {
  const url = new URL(inject("postgresUrl"));
  const proxy = await startFaultProxy({ host: url.hostname, port: Number(url.port) });
  onTestFinished(() => proxy.close());
  const schema = freshSchema();
  const store = openStore({ connectionString: urlWith({ host: `127.0.0.1:${proxy.port}` }), schema, ...options });
  const { etag } = await store.create("a", '{"by":"first"}');
  return { proxy, schema, store, etag, direct: openStore({ schema }) };
}

/** Holds an item's row until the test lets go. */
async function lockRow(schema: string, key: string): Promise<() => Promise<void>> {
  const client = await openPool({ max: 1 }).connect();
  await client.query("BEGIN");
  await client.query(`SELECT FROM ${named(schema, "item")} WHERE k = $1 FOR UPDATE`, [itemKey(null, key)]);
  return async () => {
    await client.query("ROLLBACK");
    client.release();
  };
}

test("connections that are ended during 200 writes lose nothing and write nothing twice", {
  timeout: 120_000,
}, async () => {
  const schema = freshSchema();
  const pool = openPool({ max: 8, application_name: schema });
  const store = new PostgresStateStore({ pool }, { schema });
  await store.create("first", "{}");
  const admin = openPool({ max: 1 });
  let [isOver, terminated, settled] = [false, 0, 0];
  const terminator = (async () => {
    while (!isOver) {
      const text = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
      terminated += (await admin.query(text, [schema])).rows.length;
      // Faster than connections are made, it would keep everybody out.
      const enough = settled + 3;
      await until(() => isOver || settled >= enough);
    }
  })();
  const acknowledged = new Map<string, string>();
  const writer = async (name: string) => {
    for (let turn = 0; turn < 25; turn += 1) {
      const key = `${name}-${turn}`;
      await store.create(key, JSON.stringify({ key }), { tags: { by: name } }).then(
        ({ etag }) => acknowledged.set(key, etag),
        (error) => expect(["outcome_unknown", "unavailable"]).toContain(error.code),
      );
      settled += 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, index) => writer(`writer-${index}`)));
  isOver = true;
  await terminator;
  expect(terminated).toBeGreaterThan(0);
  const stored = await keysOf(store);
  expect(new Set(stored).size).toBe(stored.length);
  for (const [key, etag] of acknowledged) {
    expect((await store.get(key))?.etag, key).toBe(etag);
  }
  const tagged = await Promise.all(
    Array.from({ length: 8 }, (_, index) => keysOf(store, { tags: { by: `writer-${index}` } })),
  );
  expect(["first", ...tagged.flat()].sort()).toEqual([...stored].sort());
  expect(acknowledged.size).toBeGreaterThan(0);
  expect(pool.totalCount - pool.idleCount).toBe(0);
  await store.create("afterwards", "{}");
});

describe("an answer that was lost", () => {
  test("of a read is asked for again", async () => {
    const { proxy, store, etag } = await openProxied();
    proxy.cutNextReply(0);
    expect((await store.get("a"))?.etag).toBe(etag);
    proxy.cutNextReply(0);
    expect((await store.listKeys()).keys).toHaveLength(1);
  });

  test("of a write under an etag is asked for again, and it is no conflict with itself", async () => {
    const { proxy, store, etag } = await openProxied();
    proxy.cutNextReply(0);
    const second = await store.set("a", '{"by":"second"}', { ifMatch: etag });
    expect(await store.get("a")).toMatchObject({ text: '{"by":"second"}', etag: second.etag });
    proxy.cutNextReply(0);
    const third = await store.set("a", '{"by":"third"}', { ifMatch: second.etag, tags: { kind: "x" } });
    expect(await store.get("a")).toMatchObject({ text: '{"by":"third"}', etag: third.etag, tags: { kind: "x" } });
    proxy.cutNextReply(0);
    const deleted = store.delete("a", { ifMatch: third.etag });
    expect(await rejection(deleted)).toMatchObject({ code: "outcome_unknown", retryable: true });
    expect(await store.get("a")).toBeUndefined();
  });

  test.each(["set", "create", "delete"] as const)("of another %s is of unknown outcome", async (method) => {
    const { proxy, store, direct } = await openProxied();
    const key = method === "create" ? "new" : "a";
    proxy.cutNextReply(0);
    const call = method === "delete" ? store.delete(key) : store[method](key, '{"by":"us"}');
    expect(await rejection(call)).toMatchObject({ code: "outcome_unknown", retryable: true });
    const expected = method === "delete" ? undefined : '{"by":"us"}';
    expect((await direct.get(key))?.text).toBe(expected);
  });

  test("of erase and deleteExpired is asked for again", async () => {
    const { proxy, store, direct } = await openProxied();
    proxy.cutNextReply(0);
    await store.erase({ owner: null });
    expect(await keysOf(direct)).toEqual([]);
    proxy.cutNextReply(0);
    expect(await store.deleteExpired()).toEqual({ items: 0 });
  });
});

describe("a write that is not sent again", () => {
  test.each([
    ["set", "a", undefined],
    ["create", "new", undefined],
    ["delete", "a", '{"by":"them"}'],
  ] as const)("leaves alone what others did meanwhile: %s", async (method, key, left) => {
    const { proxy, schema, store, direct } = await openProxied();
    const pool = openPool();
    const isDone = async () => {
      const { rows } = await pool.query(
        `SELECT count(*)::int AS done FROM ${named(schema, "item")} WHERE key = $1 AND value = '{"by":"us"}'`,
        [key],
      );
      return method === "delete" ? (await direct.get(key)) === undefined : rows[0].done === 1;
    };
    // Longer than it takes to see that it is done, also on a busy machine.
    proxy.setLatency(500);
    const call = method === "delete" ? store.delete(key) : store[method](key, '{"by":"us"}');
    const outcome = rejection(call);
    await until(isDone);
    // Carried out, and the answer is still on its way.
    proxy.killConnections();
    await (method === "delete" ? direct.create(key, '{"by":"them"}') : direct.delete(key));
    expect(await outcome).toMatchObject({ code: "outcome_unknown" });
    expect((await direct.get(key))?.text).toBe(left);
  });

  test("under an etag is of unknown outcome when somebody wrote on top, and stays overwritten", async () => {
    const { proxy, store, etag, direct } = await openProxied();
    proxy.setLatency(150);
    const outcome = rejection(store.set("a", '{"by":"us"}', { ifMatch: etag }));
    await until(async () => (await direct.get("a"))?.text === '{"by":"us"}');
    proxy.killConnections();
    const theirs = await direct.set("a", '{"by":"them"}');
    expect(await outcome).toMatchObject({ code: "outcome_unknown", retryable: true });
    expect((await direct.get("a"))?.etag).toBe(theirs.etag);
  });
});

describe("a call that takes too long", () => {
  test("gives its connection up, and is complete or absent", async () => {
    const schema = freshSchema();
    const pool = openPool({ max: 2 });
    const store = new PostgresStateStore({ pool }, { schema, timeoutMs: 400 });
    const { etag } = await store.create("a", "{}");
    const unlock = await lockRow(schema, "a");
    for (const call of [
      () => store.set("a", '{"b":1}'),
      () => store.set("a", '{"b":1}', { ifMatch: etag }),
      () => store.delete("a"),
    ]) {
      expect(await rejection(call())).toMatchObject({ code: "outcome_unknown" });
    }
    expect((await store.get("a"))?.text).toBe("{}");
    await until(() => pool.totalCount === pool.idleCount);
    await unlock();
    await store.create("other", "{}");
  });

  test("waits for a connection no longer than its deadline, and nothing is sent afterwards", async () => {
    const pool = openPool({ max: 1 });
    const store = new PostgresStateStore({ pool }, { schema: freshSchema(), timeoutMs: 300 });
    await store.create("a", "{}");
    const lent = await pool.connect();
    expect(await rejection(store.create("b", "{}"))).toMatchObject({ code: "timeout" });
    lent.release();
    expect(await keysOf(store)).toEqual(["a"]);
  });

  test("is a timeout when the server's own limit ends it", async () => {
    const schema = freshSchema();
    const pool = openPool({ options: "-c statement_timeout=200" });
    const store = new PostgresStateStore({ pool }, { schema });
    const { etag } = await store.create("a", "{}");
    const unlock = await lockRow(schema, "a");
    expect(await rejection(store.set("a", '{"b":1}'))).toMatchObject({ code: "timeout", retryable: true });
    await unlock();
    expect((await store.get("a"))?.etag).toBe(etag);
  });

  test("lets calls that waited for a connection be carried out when the store is closed", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, maxConnections: 1, timeoutMs: 20_000 });
    await store.create("a", "{}");
    const admin = openPool({ max: 1 });
    const unlock = await lockRow(schema, "a");
    const first = store.set("a", '{"b":1}');
    const text = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1";
    await until(async () => (await admin.query(text, [`%${schema}%`])).rows.length === 1);
    const waiting = Array.from({ length: 5 }, (_, n) => store.create(`item-${n}`, "{}"));
    const closed = store.close();
    await unlock();
    await Promise.all([first, ...waiting, closed]);
    expect((await openStore({ schema }).get("a"))?.text).toBe('{"b":1}');
  });
});

describe("an abort on the way", () => {
  test("rejects a write at once as of unknown outcome, and the connection comes back", async () => {
    const schema = freshSchema();
    const pool = openPool({ max: 1 });
    const store = new PostgresStateStore({ pool }, { schema });
    await store.create("a", "{}");
    const unlock = await lockRow(schema, "a");
    const controller = new AbortController();
    const write = rejection(store.set("a", '{"b":1}', { signal: controller.signal }));
    await until(() => pool.idleCount === 0);
    controller.abort();
    const error = await write;
    expect(error).toMatchObject({ code: "outcome_unknown" });
    expect(error.cause).toBe(controller.signal.reason);
    await unlock();
    expect((await store.get("a"))?.text).toBe('{"b":1}');
  });

  test("ends a read with its reason, and no connection stays lent that never answers", async () => {
    const { proxy, schema } = await openProxied();
    const pool = openPool({ connectionString: urlWith({ host: `127.0.0.1:${proxy.port}` }), max: 3 });
    const store = new PostgresStateStore({ pool }, { schema, timeoutMs: 500 });
    await store.get("a");
    proxy.blackhole();
    const controller = new AbortController();
    const read = store.get("a", { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await expect(read).rejects.toThrow("aborted");
    await until(() => pool.totalCount === 0);
    await proxy.pass();
    expect(await store.get("a")).toBeDefined();
  });
});

describe("what its owner or the store closed", () => {
  test("is told at once when it is a pool that was passed in", async () => {
    const pool = new pg.Pool({ connectionString: inject("postgresUrl") });
    const store = new PostgresStateStore({ pool }, { schema: freshSchema(), timeoutMs: 60_000 });
    await store.create("a", "{}");
    await pool.end();
    expect(await rejection(store.set("a", "{}"))).toMatchObject({ code: "configuration" });
  });

  test("is told at once when it is a pool that lends by promise only, and gets its connection back", async () => {
    const pool = openPool({ max: 1 });
    const store = new PostgresStateStore({ pool: { connect: () => pool.connect() } }, { timeoutMs: 60_000 });
    expect(await rejection(store.get("a"))).toMatchObject({ code: "configuration" });
    expect((await pool.query("SELECT 1")).rows).toHaveLength(1);
  });

  test("is closed in time also when the server does not answer", async () => {
    const { proxy, store } = await openProxied({ timeoutMs: 500 });
    proxy.blackhole();
    await store.close();
    await store.close();
    await proxy.pass();
    expect(await rejection(store.get("a"))).toMatchObject({ code: "configuration" });
  });
});
