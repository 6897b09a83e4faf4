import { describe, expect, inject, test } from "vitest";
import { PostgresStateStore } from "../src/index.ts";
import { age, freshSchema, keysOf, named, openPool, openStore, rowsIn, until } from "./support/postgres.ts";

const TAGGED = { tags: { kind: "x", phase: "y" } };

describe("deleteExpired", () => {
  test("deletes what has expired, tags included, in batches, and nothing else", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, ttlSeconds: 7200 });
    await Promise.all(Array.from({ length: 25 }, (_, n) => store.create(`old-${n}`, "{}", TAGGED)));
    await store.create("young", "{}", TAGGED);
    await openStore({ schema }).create("forever", "{}", TAGGED);
    expect(await store.deleteExpired()).toEqual({ items: 0 });
    await age(schema, "old-%");
    expect(await keysOf(store, TAGGED)).toEqual(["young", "forever"]);
    expect(await store.deleteExpired({ batchSize: 10 })).toEqual({ items: 25 });
    expect(await rowsIn(schema)).toEqual({ items: 2, tags: 4 });
    expect(await keysOf(store, TAGGED)).toEqual(["young", "forever"]);
  });

  test("is done once by many at a time, and spares what is written meanwhile", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, ttlSeconds: 7200 });
    const names = Array.from({ length: 40 }, (_, n) => `old-${n}`);
    await Promise.all(names.map((name) => store.create(name, "{}", TAGGED)));
    await age(schema, "old-%");
    const kept = names.slice(0, 10);
    const [sweeps] = await Promise.all([
      Promise.all([1, 2, 3, 4].map((batchSize) => store.deleteExpired({ batchSize }))),
      Promise.all(kept.map((name) => store.set(name, '{"new":1}', { tags: { kind: "new" } }))),
    ]);
    expect(sweeps.reduce((sum, { items }) => sum + items, 0)).toBeGreaterThanOrEqual(30);
    expect((await keysOf(store, { tags: { kind: "new" } })).sort()).toEqual([...kept].sort());
    expect(await rowsIn(schema)).toEqual({ items: 10, tags: 10 });
  });

  test("waits for nobody who holds an item", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, ttlSeconds: 7200, timeoutMs: 2_000 });
    await Promise.all(Array.from({ length: 5 }, (_, n) => store.create(`old-${n}`, "{}")));
    await age(schema, "old-%");
    const client = await openPool({ max: 1 }).connect();
    await client.query("BEGIN");
    await client.query(`SELECT FROM ${named(schema, "item")} WHERE key = 'old-2' FOR UPDATE`);
    expect(await store.deleteExpired({ batchSize: 1 })).toEqual({ items: 4 });
    await client.query("COMMIT");
    client.release();
    expect(await store.deleteExpired()).toEqual({ items: 1 });
  });

  test("uses an index that ordinary writes do not move", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, ttlSeconds: 86_400 });
    await store.create("a", "{}", TAGGED);
    for (let turn = 0; turn < 20; turn += 1) {
      await store.set("a", JSON.stringify({ turn, more: "x".repeat(300) }), TAGGED);
    }
    // The statistics of a connection become visible when it ends.
    await store.close();
    const pool = openPool();
    await until(async () => {
      const { rows } = await pool.query(
        `SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot FROM pg_stat_all_tables
         WHERE schemaname = $1 AND relname = 'state_item'`,
        [schema],
      );
      // All but those at the turn of an hour stay within their page and touch no index.
      return rows[0].updates === 20 && rows[0].hot >= 19;
    });
    const { rows } = await pool.query(
      `SELECT n_tup_ins::int AS inserted FROM pg_stat_all_tables WHERE schemaname = $1 AND relname = 'state_tag'`,
      [schema],
    );
    expect(rows).toEqual([{ inserted: 2 }]);
  });
});

describe("an item whose life ended", () => {
  test("begins anew with the next write, at the end of the order and with the tags of that write", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, ttlSeconds: 7200 });
    for (const key of ["a", "b", "c", "d"]) {
      await store.create(key, "{}", TAGGED);
    }
    await age(schema, "_");
    await store.set("b", '{"new":1}');
    await store.create("a", '{"new":2}', { tags: { kind: "x" } });
    expect(await keysOf(store)).toEqual(["b", "a"]);
    expect(await keysOf(store, { order: "desc" })).toEqual(["a", "b"]);
    expect(await keysOf(store, { tags: { kind: "x" } })).toEqual(["a"]);
    expect(await keysOf(store, { tags: { phase: "y" } })).toEqual([]);
    expect(await store.delete("c")).toBe(false);
    expect(await rowsIn(schema)).toEqual({ items: 3, tags: 3 });
  });

  test("lives for ever when a store without expiry writes it", async () => {
    const schema = freshSchema();
    await openStore({ schema, ttlSeconds: 7200 }).create("a", "{}");
    await openStore({ schema }).set("a", '{"b":1}');
    const { rows } = await openPool().query(`SELECT expires_at, expires_hour FROM ${named(schema, "item")}`);
    expect(rows).toEqual([{ expires_at: null, expires_hour: null }]);
  });
});

describe("delete", () => {
  test("takes the tags along, and leaves none of a write that it raced with", async () => {
    const schema = freshSchema();
    const store = openStore({ schema });
    const keys = Array.from({ length: 40 }, (_, n) => `item-${n}`);
    await Promise.all(keys.map((key) => store.create(key, "{}", TAGGED)));
    await Promise.all(
      keys.flatMap((key) => [store.set(key, "{}", { tags: { kind: "new" } }), store.delete(key), store.set(key, "{}")]),
    );
    const { rows } = await openPool().query(
      `SELECT count(*)::int AS lost FROM ${named(schema, "tag")} AS x WHERE NOT EXISTS (
         SELECT FROM ${named(schema, "item")} AS i WHERE i.k = x.k AND i.seq = x.seq AND x.t = ANY (i.tag_keys))`,
    );
    expect(rows).toEqual([{ lost: 0 }]);
    await Promise.all(keys.map((key) => store.delete(key)));
    expect(await rowsIn(schema)).toEqual({ items: 0, tags: 0 });
  });
});

describe("erase", () => {
  test("deletes everything of one owner and tells how much", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, connectionString: inject("pgBouncerUrl"), prepare: false });
    await Promise.all(
      Array.from({ length: 120 }, (_, n) => store.create(`item-${n}`, "{}", { owner: "alice", ...TAGGED })),
    );
    for (const owner of [null, "", "alic"]) {
      await store.create("item-1", "{}", { owner, ...TAGGED });
    }
    expect(await store.erase({ owner: "alice" })).toEqual({ items: 120 });
    expect(await store.erase({ owner: "alice" })).toEqual({ items: 0 });
    expect(await keysOf(store, { owner: "alice" })).toEqual([]);
    expect(await rowsIn(schema)).toEqual({ items: 3, tags: 6 });
    expect(await store.erase({ owner: null })).toEqual({ items: 1 });
    expect(await rowsIn(schema)).toEqual({ items: 2, tags: 4 });
  });

  test("of an owner who goes on writing deadlocks with nobody", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, ttlSeconds: 7200 });
    const names = Array.from({ length: 30 }, (_, n) => `item-${n}`);
    await Promise.all(names.map((name) => store.create(name, "{}", TAGGED)));
    await age(schema, "item-1%");
    await Promise.all([
      ...[0, 1, 2].map(() => store.erase({ owner: null })),
      ...[0, 1].map(() => store.deleteExpired({ batchSize: 7 })),
      ...names.map((name) => store.set(name, "{}", { tags: { kind: "new" } })),
      ...names.map((name) => store.delete(name)),
    ]);
    await store.erase({ owner: null });
    expect(await rowsIn(schema)).toEqual({ items: 0, tags: 0 });
  });

  test("of an owner who writes between any two statements comes to an end", async () => {
    const schema = freshSchema();
    const others = openStore({ schema });
    await others.create("a", "{}");
    const pool = openPool({ max: 1 });
    let batches = 0;
    const store = new PostgresStateStore(
      {
        pool: {
          connect(callback) {
            batches += 1;
            const write = batches < 20 ? others.set("a", "{}") : Promise.resolve();
            write.then(
              () => pool.connect(callback),
              (error) => callback(error, undefined),
            );
          },
        },
      },
      { schema },
    );
    await store.get("a");
    batches = 0;
    expect(await store.erase({ owner: null })).toEqual({ items: 1 });
    expect(batches).toBe(1);
  });
});
