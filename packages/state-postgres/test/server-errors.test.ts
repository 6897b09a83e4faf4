import { startFaultProxy } from "@agentfw/test-servers";
import { expect, inject, onTestFinished, test } from "vitest";
import { PostgresStateStore } from "../src/index.ts";
import { freshSchema, openPool, openStore, rejection, urlWith } from "./support/postgres.ts";

test("a server that is down at the first call is told at once, and used as soon as it is there", async () => {
  const url = new URL(inject("postgresUrl"));
  const proxy = await startFaultProxy({ host: url.hostname, port: Number(url.port) });
  onTestFinished(() => proxy.close());
  await proxy.refuse();
  const store = openStore({ connectionString: urlWith({ host: `127.0.0.1:${proxy.port}` }), timeoutMs: 20_000 });
  const start = performance.now();
  expect(await rejection(store.get("a"))).toMatchObject({ code: "unavailable" });
  expect(performance.now() - start).toBeLessThan(10_000);
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
