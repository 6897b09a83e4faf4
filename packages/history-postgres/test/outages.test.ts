import { startFaultProxy } from "@agentfw/test-servers";
import pg from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { PostgresHistoryStore, type PostgresHistoryStoreOptions, type PostgresPool } from "../src/index.ts";
import { conversationKey } from "../src/keys.ts";
import { conversation, idsOf, records, rejection, until } from "./support/conversation.ts";
import { freshSchema, named, openPool, openStore, urlWith } from "./support/postgres.ts";

const REDACTED = [{ id: "a-1", data: '"redacted"' }];

/** A store behind a proxy, with its tables made and three records stored. */
async function openProxied(options: PostgresHistoryStoreOptions = {}) {
  const url = new URL(inject("postgresUrl"));
  const proxy = await startFaultProxy({ host: url.hostname, port: Number(url.port) });
  onTestFinished(() => proxy.close());
  const schema = freshSchema();
  const store = openStore({ connectionString: urlWith({ host: `127.0.0.1:${proxy.port}` }), schema, ...options });
  await store.append(conversation(), records("a", 3));
  return { proxy, schema, store };
}

/** Holds a conversation's row until the test lets go. */
async function lockRow(schema: string): Promise<() => Promise<void>> {
  const client = await openPool({ max: 1 }).connect();
  await client.query("BEGIN");
  const key = conversationKey(conversation());
  await client.query(`SELECT FROM ${named(schema, "conversation")} WHERE k = $1 FOR UPDATE`, [key]);
  return async () => {
    await client.query("ROLLBACK");
    client.release();
  };
}

test("connections that are ended during 200 appends lose nothing and store nothing twice", {
  timeout: 120_000,
}, async () => {
  const schema = freshSchema();
  const pool = openPool({ max: 8, application_name: schema });
  const store = new PostgresHistoryStore({ pool }, { schema });
  await store.append(conversation(), records("first", 1));
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
  const batches = Array.from({ length: 200 }, (_, index) => records(`batch-${index}`, 2));
  const acknowledged = new Set<string>();
  const writer = async (start: number) => {
    for (const batch of batches.slice(start, start + 25)) {
      await store.append(conversation(), batch).then(
        () => acknowledged.add(batch[0]?.id ?? ""),
        (error) => expect(["outcome_unknown", "unavailable"]).toContain(error.code),
      );
      settled += 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, index) => writer(index * 25)));
  isOver = true;
  await terminator;
  expect(terminated).toBeGreaterThan(0);
  const ids = idsOf((await store.read(conversation())).records);
  expect(new Set(ids).size).toBe(ids.length);
  for (const batch of batches) {
    const at = ids.indexOf(batch[0]?.id ?? "");
    expect(at >= 0 || !acknowledged.has(batch[0]?.id ?? ""), batch[0]?.id).toBe(true);
    expect(at < 0 ? idsOf(batch) : ids.slice(at, at + 2)).toEqual(idsOf(batch));
  }
  expect(acknowledged.size).toBeGreaterThan(100);
  expect(pool.totalCount - pool.idleCount).toBe(0);
  expect((await store.append(conversation(), records("afterwards", 1))).appended).toBe(1);
});

describe("an answer that was lost", () => {
  test("of an append is asked for again, and the records are stored once", async () => {
    const { proxy, store } = await openProxied();
    proxy.cutNextReply(0);
    await store.append(conversation(), records("b", 2));
    expect(idsOf((await store.read(conversation())).records)).toEqual(["a-0", "a-1", "a-2", "b-0", "b-1"]);
  });

  test("of an append is given again: its version, and how many records it added itself", async () => {
    const { proxy, schema, store } = await openProxied();
    const others = openStore({ schema });
    await others.append(conversation(), records("known", 1));
    const before = await others.read(conversation());
    proxy.setLatency(150);
    const appended = store.append(conversation(), [...records("b", 2), ...records("known", 1)], {
      ifVersion: before.version,
    });
    await until(async () => (await others.read(conversation())).records.length === 6);
    // Carried out, and the answer is still on its way.
    proxy.killConnections();
    const { version } = await others.read(conversation());
    await others.append(conversation(), records("theirs", 2));
    expect(await appended).toEqual({ version, appended: 2 });
    const next = store.append(conversation(), records("c", 1), { ifVersion: version });
    expect(await rejection(next)).toMatchObject({ code: "conflict" });
  });

  test("of a read and a list is asked for again", async () => {
    const { proxy, store } = await openProxied();
    proxy.cutNextReply(0);
    expect((await store.read(conversation())).records).toHaveLength(3);
    proxy.cutNextReply(0);
    expect((await store.list({ owner: "owner-1" })).items).toHaveLength(1);
  });

  test("of erase and deleteExpired is asked for again", async () => {
    const { proxy, store } = await openProxied();
    proxy.cutNextReply(0);
    await store.erase({ owner: "owner-1" });
    expect((await store.read(conversation())).version).toBe("");
    proxy.cutNextReply(0);
    expect(await store.deleteExpired()).toEqual({ conversations: 0, records: 0 });
  });

  test("of a replace is of unknown outcome when the run is gone, and never a conflict with itself", async () => {
    const { proxy, store } = await openProxied();
    proxy.cutNextReply(0);
    const replaced = store.replace(conversation(), { fromId: "a-0", throughId: "a-1" }, records("summary", 1));
    expect(await rejection(replaced)).toMatchObject({ code: "outcome_unknown", retryable: true });
    expect(idsOf((await store.read(conversation())).records)).toEqual(["summary-0", "a-2"]);
  });

  test("of a replace under a version is of unknown outcome, and never a conflict with itself", async () => {
    const { proxy, store } = await openProxied();
    const { version } = await store.read(conversation());
    proxy.cutNextReply(0);
    const range = { fromId: "a-1", throughId: "a-1" };
    const replaced = store.replace(conversation(), range, REDACTED, { ifVersion: version });
    expect(await rejection(replaced)).toMatchObject({ code: "outcome_unknown", retryable: true });
    expect((await store.read(conversation())).records[1]).toEqual(REDACTED[0]);
  });
});

describe("a write that is not sent again", () => {
  test("leaves alone what others append after a clear", async () => {
    const { proxy, schema, store } = await openProxied();
    const others = openStore({ schema });
    proxy.setLatency(150);
    const outcome = rejection(store.clear(conversation()));
    await until(async () => (await others.read(conversation())).version === "");
    // Carried out, and the answer is still on its way.
    proxy.killConnections();
    await others.append(conversation(), records("b", 2));
    expect(await outcome).toMatchObject({ code: "outcome_unknown", retryable: true });
    expect(idsOf((await others.read(conversation())).records)).toEqual(["b-0", "b-1"]);
  });

  test("leaves alone what others put in the place of a record that it replaced", async () => {
    const { proxy, schema, store } = await openProxied();
    const others = openStore({ schema });
    const range = { fromId: "a-1", throughId: "a-1" };
    const second = async () => (await others.read(conversation())).records[1]?.data;
    proxy.setLatency(150);
    const outcome = rejection(store.replace(conversation(), range, REDACTED));
    await until(async () => (await second()) === REDACTED[0]?.data);
    proxy.killConnections();
    await others.replace(conversation(), range, [{ id: "a-1", data: '"theirs"' }]);
    expect(await outcome).toMatchObject({ code: "outcome_unknown", retryable: true });
    expect(await second()).toBe('"theirs"');
  });
});

describe("a call that takes too long", () => {
  test("gives its connection up, and is complete or absent", async () => {
    const schema = freshSchema();
    const pool = openPool({ max: 2 });
    const store = new PostgresHistoryStore({ pool }, { schema, timeoutMs: 400 });
    await store.append(conversation(), records("a", 1));
    const unlock = await lockRow(schema);
    expect(await rejection(store.append(conversation(), records("b", 2)))).toMatchObject({ code: "outcome_unknown" });
    expect(await rejection(store.clear(conversation()))).toMatchObject({ code: "outcome_unknown" });
    expect(idsOf((await store.read(conversation())).records)).toEqual(["a-0"]);
    await until(() => pool.totalCount === pool.idleCount);
    await unlock();
    // The server carries out what was given up, now that it can, in an order of its own.
    const text = "SELECT FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND query LIKE $1";
    const admin = openPool({ max: 1 });
    await until(async () => (await admin.query(text, [`%${schema}%`])).rows.length === 0);
    await store.append(conversation("other"), records("c", 1));
    await store.append(conversation(), records("b", 2));
    const left = idsOf((await store.read(conversation())).records);
    expect(left.filter((id) => id.startsWith("b"))).toEqual(["b-0", "b-1"]);
  });

  test("waits for a connection no longer than its deadline, and nothing is sent afterwards", async () => {
    const pool = openPool({ max: 1 });
    const store = new PostgresHistoryStore({ pool }, { schema: freshSchema(), timeoutMs: 300 });
    await store.append(conversation(), records("a", 1));
    const lent = await pool.connect();
    expect(await rejection(store.append(conversation(), records("b", 1)))).toMatchObject({ code: "timeout" });
    lent.release();
    expect(idsOf((await store.read(conversation())).records)).toEqual(["a-0"]);
  });

  test("is a timeout when the server's own limit ends it", async () => {
    const schema = freshSchema();
    const pool = openPool({ options: "-c statement_timeout=200" });
    const store = new PostgresHistoryStore({ pool }, { schema });
    await store.append(conversation(), records("a", 1));
    const unlock = await lockRow(schema);
    const error = await rejection(store.append(conversation(), records("b", 1)));
    expect(error).toMatchObject({ code: "timeout", retryable: true });
    await unlock();
    expect((await store.read(conversation())).records).toHaveLength(1);
  });
});

describe("what its owner or the store closed", () => {
  test("is told at once when it is a pool that was passed in", async () => {
    const pool = new pg.Pool({ connectionString: inject("postgresUrl") });
    const store = new PostgresHistoryStore({ pool }, { schema: freshSchema(), timeoutMs: 60_000 });
    await store.append(conversation(), records("a", 1));
    await pool.end();
    expect(await rejection(store.append(conversation(), records("b", 1)))).toMatchObject({ code: "configuration" });
  });

  test("is told at once when it is a pool that lends by promise only, and gets its connection back", async () => {
    const pool = openPool({ max: 1 });
    const store = new PostgresHistoryStore({ pool: { connect: () => pool.connect() } }, { timeoutMs: 60_000 });
    expect(await rejection(store.read(conversation()))).toMatchObject({ code: "configuration" });
    expect((await pool.query("SELECT 1")).rows).toHaveLength(1);
  });

  test("is closed in time also when the server does not answer", async () => {
    const { proxy, store } = await openProxied({ timeoutMs: 500 });
    proxy.blackhole();
    await store.close();
    await store.close();
    await proxy.pass();
    expect(await rejection(store.read(conversation()))).toMatchObject({ code: "configuration" });
  });

  test("lets calls that waited for a connection be carried out", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, maxConnections: 1, timeoutMs: 20_000 });
    await store.append(conversation(), records("a", 1));
    const admin = openPool({ max: 1 });
    const unlock = await lockRow(schema);
    const first = store.append(conversation(), records("b", 1));
    const text = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1";
    await until(async () => (await admin.query(text, [`%${schema}%`])).rows.length === 1);
    const waiting = Array.from({ length: 5 }, (_, n) => store.append(conversation(`s${n}`), records("c", 1)));
    const closed = store.close();
    await unlock();
    await Promise.all([first, ...waiting, closed]);
    const { records: stored } = await openStore({ schema }).read(conversation());
    expect(idsOf(stored)).toEqual(["a-0", "b-0"]);
  });

  test("gives up calls that no connection comes free for in time, and tells them so", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, maxConnections: 1, timeoutMs: 1_000 });
    await store.append(conversation(), records("a", 1));
    const unlock = await lockRow(schema);
    const held = rejection(store.append(conversation(), records("b", 1)));
    const waiting = [
      rejection(store.read(conversation())),
      rejection(store.append(conversation("s"), records("c", 1))),
    ];
    await store.close();
    expect(await held).toMatchObject({ code: "outcome_unknown" });
    for (const error of await Promise.all(waiting)) {
      expect(["timeout", "unavailable", "configuration"]).toContain(Reflect.get(error, "code"));
    }
    await unlock();
  });
});

describe("an abort on the way", () => {
  test("does not leave a connection lent that never answers", async () => {
    const { proxy, schema } = await openProxied();
    const pool = openPool({ connectionString: urlWith({ host: `127.0.0.1:${proxy.port}` }), max: 3 });
    const store = new PostgresHistoryStore({ pool }, { schema, timeoutMs: 1000 });
    await store.read(conversation());
    proxy.blackhole();
    const controller = new AbortController();
    const read = store.read(conversation(), { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await expect(read).rejects.toThrow("aborted");
    await until(() => pool.totalCount === 0);
    await proxy.pass();
    expect((await store.read(conversation())).records).toHaveLength(3);
  });

  test("rejects at once, and the connection comes back", async () => {
    const schema = freshSchema();
    const pool = openPool({ max: 1 });
    const store = new PostgresHistoryStore({ pool }, { schema });
    await store.append(conversation(), records("a", 1));
    const unlock = await lockRow(schema);
    const controller = new AbortController();
    const append = rejection(store.append(conversation(), records("b", 1), { signal: controller.signal }));
    await until(async () => pool.idleCount === 0);
    controller.abort();
    const error = await append;
    expect(error).toMatchObject({ code: "outcome_unknown" });
    expect(error.cause).toBe(controller.signal.reason);
    await unlock();
    const stored = await store.read(conversation());
    expect(idsOf(stored.records)).toEqual(["a-0", "b-0"]);
  });
});

describe("a server that is not to be had", () => {
  test("is told at the first call, at once, and works as soon as it is there", async () => {
    const url = new URL(inject("postgresUrl"));
    const proxy = await startFaultProxy({ host: url.hostname, port: Number(url.port) });
    onTestFinished(() => proxy.close());
    await proxy.refuse();
    const pool = openPool({ connectionString: urlWith({ host: `127.0.0.1:${proxy.port}` }) });
    let attempts = 0;
    const connect: PostgresPool["connect"] = (callback) => {
      attempts += 1;
      pool.connect(callback);
    };
    const store = new PostgresHistoryStore({ pool: { connect } }, { schema: freshSchema(), timeoutMs: 20_000 });
    expect(await rejection(store.read(conversation()))).toMatchObject({ code: "unavailable" });
    expect(attempts).toBe(1);
    await proxy.pass();
    expect((await store.append(conversation(), records("a", 1))).appended).toBe(1);
  });

  test.each([
    ["a database that does not exist", { pathname: "/no-such-database" }, "configuration"],
    ["a user that does not exist", { username: "no-such-user" }, "unauthorized"],
  ] as const)("%s is an error of its own", async (_, parts, code) => {
    const store = openStore({ connectionString: urlWith(parts) });
    const error = await rejection(store.append(conversation(), records("a", 1)));
    expect(error.code).toBe(code);
    expect(error.message).not.toContain("no-such");
  });

  test("too many connections, a read-only server and many serializable writers", async () => {
    const schema = freshSchema();
    const admin = openPool();
    const open = (options: string) => new PostgresHistoryStore({ pool: openPool({ options }) }, { schema });
    const serializable = open("-c default_transaction_isolation=serializable");
    await serializable.append(conversation(), records("a", 1));
    await Promise.all(Array.from({ length: 12 }, (_, n) => serializable.append(conversation(), records(`b${n}`, 2))));
    expect((await serializable.read(conversation())).records).toHaveLength(25);

    const readOnly = open("-c default_transaction_read_only=on");
    expect((await readOnly.read(conversation())).records).toHaveLength(25);
    expect(await rejection(readOnly.append(conversation(), records("c", 1)))).toMatchObject({ code: "unavailable" });

    const role = `limited-${schema.slice(-13)}`;
    await admin.query(`CREATE ROLE "${role}" LOGIN CONNECTION LIMIT 0`);
    onTestFinished(async () => void (await admin.query(`DROP ROLE "${role}"`)));
    const limited = openStore({ connectionString: urlWith({ username: encodeURIComponent(role) }) });
    expect(await rejection(limited.read(conversation()))).toMatchObject({ code: "unavailable" });
  });
});
