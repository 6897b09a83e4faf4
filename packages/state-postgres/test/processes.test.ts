import { AgentSession, SessionStore } from "@agentfw/core";
import { expect, inject, test } from "vitest";
import { PostgresStateStore } from "../src/index.ts";
import { freshSchema, keysOf, named, openPool, openStore, rowsIn } from "./support/postgres.ts";
import { runTogether } from "./support/processes.ts";

const OWNER = { owner: "alice" };
const NAMES = ["a", "b", "c", "d"];

test.each(["postgresUrl", "pgBouncerUrl"] as const)(
  "four processes that update one session at once lose no update (%s)",
  { timeout: 120_000 },
  async (url) => {
    const schema = freshSchema();
    const sessions = new SessionStore(openStore({ schema }));
    await sessions.save(new AgentSession({ sessionId: "shared", ...OWNER, state: { count: 0 } }));
    const task = { job: "increment", connectionString: inject(url), schema, times: 25 } as const;
    expect(await runTogether(NAMES.map((name) => ({ ...task, name })))).toEqual([0, 0, 0, 0]);
    expect((await sessions.load("shared", OWNER))?.state).toEqual({ count: 100 });
  },
);

test("of four processes that write under one etag one wins, 100 times over", { timeout: 120_000 }, async () => {
  const schema = freshSchema();
  const store = openStore({ schema });
  await store.create("rounds", '{"winners":[]}');
  const task = { job: "compare-and-set", connectionString: inject("postgresUrl"), schema, times: 100 } as const;
  expect(await runTogether(NAMES.map((name) => ({ ...task, name })))).toEqual([0, 0, 0, 0]);
  const { winners } = JSON.parse((await store.get("rounds"))?.text ?? "");
  // A round that two had won would have lost one of their names, and the list would have gone on to be filled.
  expect(winners).toHaveLength(100);
  const { rows } = await openPool().query(`SELECT count(*)::int AS items FROM ${named(schema, "item")}`);
  expect(rows).toEqual([{ items: 1 }]);
});

test("20 processes that start on an empty database at once make the tables once, and each item once", {
  timeout: 120_000,
}, async () => {
  const schema = freshSchema();
  const tasks = Array.from({ length: 20 }, (_, index) => {
    const connectionString = inject(index % 2 === 0 ? "postgresUrl" : "pgBouncerUrl");
    return { job: "create", connectionString, schema, name: `process-${index}`, times: 8 } as const;
  });
  expect(await runTogether(tasks)).toEqual(tasks.map(() => 0));
  const store = openStore({ schema });
  expect((await keysOf(store, OWNER)).sort()).toEqual(Array.from({ length: 8 }, (_, turn) => `item-${turn}`));
  // Those who lost left no tags behind, and each winner's tag leads to its own items.
  expect(await rowsIn(schema)).toEqual({ items: 8, tags: 8 });
  for (const key of await keysOf(store, OWNER)) {
    const item = await store.get(key, OWNER);
    const { by } = JSON.parse(item?.text ?? "");
    expect(item?.tags).toEqual({ by });
    expect(await keysOf(store, { ...OWNER, tags: { by } })).toContain(key);
  }
  const { rows } = await openPool().query(`SELECT version FROM ${named(schema, "layout")}`);
  expect(rows).toEqual([{ version: 1 }]);
});

test("stores that start on an empty database at once wait for whoever makes the schema", async () => {
  const schema = freshSchema();
  const pool = openPool({ max: 1 });
  const client = await pool.connect();
  const { lockNumber } = await import("../src/store-schema.ts");
  await client.query("BEGIN");
  await client.query(`SELECT pg_advisory_xact_lock(${lockNumber(schema)})`);
  await client.query(`CREATE SCHEMA "${schema}"`);
  const stores = Array.from({ length: 10 }, (_, index) =>
    openStore({ schema, connectionString: inject(index % 2 === 0 ? "postgresUrl" : "pgBouncerUrl"), prepare: false }),
  );
  const written = Promise.all(stores.map((store, index) => store.create(`item-${index}`, "{}")));
  await new Promise((resolve) => setTimeout(resolve, 200));
  await client.query("COMMIT");
  client.release();
  await written;
  expect(await keysOf(openStore({ schema }))).toHaveLength(10);
});

test.each(["repeatable read", "serializable"])(
  "20 stores that start at once make the tables once where transactions are %s",
  async (level) => {
    const options = `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`;
    const schema = freshSchema();
    const stores = Array.from(
      { length: 20 },
      () => new PostgresStateStore({ pool: openPool({ max: 1, options }) }, { schema }),
    );
    await Promise.all(stores.map((store, index) => store.create(`item-${index}`, "{}")));
    expect(await keysOf(stores[0]!)).toHaveLength(20);
  },
);
