import { expect, inject, test } from "vitest";
import { PostgresHistoryStore } from "../src/index.ts";
import { conversation, idsOf } from "./support/conversation.ts";
import { freshSchema, named, openPool, openStore } from "./support/postgres.ts";
import { runTogether } from "./support/processes.ts";

const KEY = conversation("shared");

test.each(["postgresUrl", "pgBouncerUrl"] as const)(
  "100 appends of 4 records from 4 processes are all there, each together (%s)",
  { timeout: 120_000 },
  async (url) => {
    const schema = freshSchema();
    const connectionString = inject(url);
    const tasks = ["a", "b", "c", "d"].map((name) => ({ connectionString, schema, name, appends: 25 }));
    expect(await runTogether(tasks)).toEqual([0, 0, 0, 0]);
    const { records } = await openStore({ schema }).read(KEY);
    expect(records).toHaveLength(400);
    const ids = idsOf(records);
    for (let at = 0; at < 400; at += 4) {
      const turn = ids[at]?.slice(0, -2);
      expect(ids.slice(at, at + 4)).toEqual([0, 1, 2, 3].map((index) => `${turn}-${index}`));
    }
    expect(new Set(ids).size).toBe(400);
  },
);

test("20 processes that start on an empty database at once make the tables once", { timeout: 120_000 }, async () => {
  const schema = freshSchema();
  const tasks = Array.from({ length: 20 }, (_, index) => {
    const connectionString = inject(index % 2 === 0 ? "postgresUrl" : "pgBouncerUrl");
    return { connectionString, schema, name: `process-${index}`, appends: 1 };
  });
  expect(await runTogether(tasks)).toEqual(tasks.map(() => 0));
  expect((await openStore({ schema }).read(KEY)).records).toHaveLength(80);
  const { rows } = await openPool().query(`SELECT version FROM ${named(schema, "layout")}`);
  expect(rows).toEqual([{ version: 1 }]);
});

test("20 stores that start on an empty database at once make the tables once", async () => {
  const schema = freshSchema();
  const stores = Array.from({ length: 20 }, (_, index) =>
    openStore({
      schema,
      maxConnections: 2,
      connectionString: inject(index % 2 === 0 ? "postgresUrl" : "pgBouncerUrl"),
      prepare: false,
    }),
  );
  await Promise.all(stores.map((store, index) => store.append(KEY, [{ id: `store-${index}`, data: "1" }])));
  expect((await stores[0]!.read(KEY)).records).toHaveLength(20);
});

test.each(["repeatable read", "serializable"])(
  "20 stores that start at once make the tables once where transactions are %s",
  async (level) => {
    const options = `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`;
    const schema = freshSchema();
    const stores = Array.from(
      { length: 20 },
      () => new PostgresHistoryStore({ pool: openPool({ max: 1, options }) }, { schema }),
    );
    await Promise.all(stores.map((store, index) => store.append(KEY, [{ id: `store-${index}`, data: "1" }])));
    expect((await stores[0]!.read(KEY)).records).toHaveLength(20);
  },
);
