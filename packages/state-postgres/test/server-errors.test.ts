import { startFaultProxy } from "@agentfw/test-servers";
import type pg from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { type PostgresPool, PostgresStateStore } from "../src/index.ts";
import { freshSchema, keysOf, openPool, openStore, rejection, urlWith } from "./support/postgres.ts";

test("a server that is down at the first call is told at once, and used as soon as it is there", async () => {
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
  const store = new PostgresStateStore({ pool: { connect } }, { schema: freshSchema(), timeoutMs: 20_000 });
  expect(await rejection(store.get("a"))).toMatchObject({ code: "unavailable" });
  expect(attempts).toBe(1);
  await proxy.pass();
  await store.create("a", "{}");
});

test.each([
  ["a database that does not exist", { pathname: "/no-such-database" }, "configuration"],
  ["a user that does not exist", { username: "no-such-user" }, "unauthorized"],
] as const)("%s is an error of its own", async (_, parts, code) => {
  const store = openStore({ connectionString: urlWith(parts) });
  const error = await rejection(store.create("a", "{}"));
  expect(error.code).toBe(code);
  expect(error.message).not.toContain("no-such");
});

test("serializable writers are tried again, and lose no update", async () => {
  const pool = openPool({ options: "-c default_transaction_isolation=serializable" });
  const store = new PostgresStateStore({ pool }, { schema: freshSchema() });
  await store.create("a", '{"count":0}');
  await Promise.all(Array.from({ length: 12 }, (_, count) => store.set("a", JSON.stringify({ count }))));
  const { etag = "" } = (await store.get("a")) ?? {};
  const ended = await Promise.allSettled(
    Array.from({ length: 12 }, (_, count) => store.set("a", JSON.stringify({ count }), { ifMatch: etag })),
  );
  const reasons = ended.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
  expect(reasons).toEqual(Array.from({ length: 11 }, () => "conflict"));
});

/** A pool whose next statements the server answers with an error. */
function refusing(pool: pg.Pool): PostgresPool & { readonly refusals: string[] } {
  const refusals: string[] = [];
  return {
    refusals,
    connect(callback) {
      pool.connect((error, client) => {
        if (client === undefined) {
          callback(error, undefined);
          return;
        }
        callback(undefined, {
          query(statement) {
            const code = refusals.shift();
            return code === undefined ? client.query(statement) : Promise.reject(Object.assign(new Error(), { code }));
          },
          release: (destroy) => client.release(destroy),
          on: (event, listener) => client.on(event, listener),
          removeListener: (event, listener) => client.removeListener(event, listener),
        });
      });
    },
  };
}

test.each(["53300", "40001", "40P01"])(
  "what the server did not do is tried again, plain writes too (%s)",
  async (code) => {
    const pool = refusing(openPool());
    const store = new PostgresStateStore({ pool }, { schema: freshSchema() });
    await store.create("a", "{}");
    for (const call of [() => store.create("b", "{}"), () => store.set("b", "{}"), () => store.delete("b")]) {
      pool.refusals.push(code, code);
      await call();
      expect(pool.refusals).toEqual([]);
    }
  },
);

test.each([
  ["57P01", "outcome_unknown"],
  ["53100", "unavailable"],
  ["42501", "unauthorized"],
] as const)("%s ends a plain write with %s, and it is not sent again", async (state, code) => {
  const pool = refusing(openPool());
  const store = new PostgresStateStore({ pool }, { schema: freshSchema() });
  await store.create("a", "{}");
  for (const call of [() => store.create("b", "{}"), () => store.set("b", "{}"), () => store.delete("b")]) {
    pool.refusals.push(state);
    expect(await rejection(call())).toMatchObject({ code });
  }
  expect(await keysOf(store)).toEqual(["a"]);
});

test("a read-only server serves reads and refuses writes", async () => {
  const schema = freshSchema();
  const { etag } = await openStore({ schema }).create("a", "{}");
  const pool = openPool({ options: "-c default_transaction_read_only=on" });
  const store = new PostgresStateStore({ pool }, { schema });
  expect((await store.get("a"))?.etag).toBe(etag);
  expect((await store.listKeys()).keys).toHaveLength(1);
  for (const call of [() => store.set("a", "{}"), () => store.create("b", "{}"), () => store.delete("a")]) {
    expect(await rejection(call())).toMatchObject({ code: "unavailable" });
  }
});

test("too many connections are unavailable", async () => {
  const schema = freshSchema();
  const role = `limited-${schema.slice(-13)}`;
  const admin = openPool();
  await admin.query(`CREATE ROLE "${role}" LOGIN CONNECTION LIMIT 0`);
  onTestFinished(async () => void (await admin.query(`DROP ROLE "${role}"`)));
  const limited = openStore({ schema, connectionString: urlWith({ username: encodeURIComponent(role) }) });
  expect(await rejection(limited.get("a"))).toMatchObject({ code: "unavailable" });
});
