import { describe, expect, inject, test } from "vitest";
import { PostgresHistoryStore } from "../src/index.ts";
import { conversation, records, until } from "./support/conversation.ts";
import { freshSchema, named, openPool, openStore } from "./support/postgres.ts";
import { recording } from "./support/recording.ts";

async function rowsIn(schema: string): Promise<number[]> {
  const { rows } = await openPool().query(
    `SELECT (SELECT count(*)::int FROM ${named(schema, "conversation")}) AS c,
     (SELECT count(*)::int FROM ${named(schema, "record")}) AS r`,
  );
  return [rows[0].c, rows[0].r];
}

async function age(schema: string, sessions: string): Promise<void> {
  await openPool().query(
    `UPDATE ${named(schema, "conversation")} SET expires_at = now() - interval '1 second',
     expires_hour = floor(extract(epoch FROM now() - interval '1 second') / 3600) WHERE session LIKE $1`,
    [sessions],
  );
}

describe("deleteExpired", () => {
  test("deletes what has expired, in batches, and nothing else", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, ttlSeconds: 7200 });
    const forever = openStore({ schema });
    await Promise.all(Array.from({ length: 25 }, (_, n) => store.append(conversation(`old-${n}`), records("a", 3))));
    await store.append(conversation("young"), records("a", 2));
    await forever.append(conversation("forever"), records("a", 2));
    expect(await store.deleteExpired()).toEqual({ conversations: 0, records: 0 });
    await age(schema, "old-%");
    expect(await store.deleteExpired({ batchSize: 10 })).toEqual({ conversations: 25, records: 75 });
    expect(await rowsIn(schema)).toEqual([2, 4]);
    expect((await store.read(conversation("young"))).records).toHaveLength(2);
    expect((await store.read(conversation("forever"))).records).toHaveLength(2);
  });

  test("is done once by many at a time, and spares what is written meanwhile", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, ttlSeconds: 7200 });
    const names = Array.from({ length: 40 }, (_, n) => `old-${n}`);
    await Promise.all(names.map((name) => store.append(conversation(name), records("a", 2))));
    await age(schema, "old-%");
    const [sweeps] = await Promise.all([
      Promise.all([1, 2, 3, 4].map((batchSize) => store.deleteExpired({ batchSize }))),
      Promise.all(names.slice(0, 10).map((name) => store.append(conversation(name), records("new", 1)))),
    ]);
    expect(sweeps.reduce((sum, { conversations }) => sum + conversations, 0)).toBeGreaterThanOrEqual(30);
    for (const name of names.slice(0, 10)) {
      expect((await store.read(conversation(name))).records).toEqual(records("new", 1));
    }
    expect(await rowsIn(schema)).toEqual([10, 10]);
  });

  test("passes over what others hold, and waits for nobody", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, ttlSeconds: 7200 });
    await Promise.all(["old-1", "old-2", "old-3"].map((name) => store.append(conversation(name), records("a", 2))));
    await age(schema, "old-%");
    const other = await openPool({ max: 1 }).connect();
    await other.query("BEGIN");
    await other.query(`SELECT FROM ${named(schema, "conversation")} WHERE session = 'old-2' FOR UPDATE`);
    expect(await store.deleteExpired()).toEqual({ conversations: 2, records: 4 });
    await other.query("ROLLBACK");
    other.release();
    expect(await store.deleteExpired()).toEqual({ conversations: 1, records: 2 });
  });

  test("uses an index that ordinary writes do not move", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, ttlSeconds: 86_400 });
    await store.append(conversation(), records("a", 1));
    for (let turn = 0; turn < 20; turn += 1) {
      await store.append(conversation(), records(`turn-${turn}`, 2));
    }
    // The statistics of a connection become visible when it ends.
    await store.close();
    const pool = openPool();
    await until(async () => {
      const { rows } = await pool.query(
        `SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot FROM pg_stat_all_tables
         WHERE schemaname = $1 AND relname = 'history_conversation'`,
        [schema],
      );
      const { updates, hot } = rows[0];
      // All but those at the turn of an hour stay within their page and touch no index.
      return updates === 21 && hot >= 20;
    });
  });
});

describe("clear", () => {
  test("leaves nothing on the disk of an append that it raced with", async () => {
    const schema = freshSchema();
    const store = openStore({ schema });
    const keys = Array.from({ length: 60 }, (_, n) => conversation(`s${n}`));
    await Promise.all(keys.map((key) => store.append(key, records("a", 1))));
    await Promise.all(keys.flatMap((key) => [store.append(key, records("b", 200)), store.clear(key)]));
    const { rows } = await openPool().query(
      `SELECT count(*)::int AS lost FROM ${named(schema, "record")} AS r
       WHERE NOT EXISTS (SELECT FROM ${named(schema, "conversation")} AS c WHERE c.k = r.k)`,
    );
    expect(rows).toEqual([{ lost: 0 }]);
  });
});

describe("erase", () => {
  test("deletes everything of one owner and tells how much", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, connectionString: inject("pgBouncerUrl"), prepare: false });
    await Promise.all(Array.from({ length: 120 }, (_, n) => store.append(conversation(`s${n}`), records("a", 2))));
    const others = [
      conversation("s1", { owner: null }),
      conversation("s1", { owner: "" }),
      conversation("s1", { owner: "owner-" }),
    ];
    await Promise.all(others.map((key) => store.append(key, records("b", 1))));
    await store.replace(conversation("s1"), { fromId: "a-0", throughId: "a-1" }, []);
    expect(await store.erase({ owner: "owner-1" })).toEqual({ conversations: 120, records: 240 });
    expect(await store.erase({ owner: "owner-1" })).toEqual({ conversations: 0, records: 0 });
    expect((await store.list({ owner: "owner-1" })).items).toEqual([]);
    expect(await rowsIn(schema)).toEqual([3, 3]);
    expect(await store.erase({ owner: null })).toEqual({ conversations: 1, records: 1 });
    expect(await rowsIn(schema)).toEqual([2, 2]);
  });

  test("of long conversations deletes fewer in one statement", async () => {
    const schema = freshSchema();
    const recorded = recording(openPool({ max: 1 }));
    const store = new PostgresHistoryStore({ pool: recorded }, { schema, timeoutMs: 60_000 });
    for (const name of ["s1", "s2", "s3"]) {
      await store.append(conversation(name), records("a", 1));
    }
    await openPool().query(
      `INSERT INTO ${named(schema, "record")} SELECT k, g, 'more-' || g, '1'
       FROM ${named(schema, "conversation")}, generate_series(1, 59999) AS g`,
    );
    recorded.reset();
    expect(await store.erase({ owner: "owner-1" })).toEqual({ conversations: 3, records: 180_000 });
    expect(recorded.sent).toHaveLength(2);
    expect(await rowsIn(schema)).toEqual([0, 0]);
  });

  test("of an owner who goes on writing deadlocks with nobody", async () => {
    const store = openStore();
    const names = Array.from({ length: 30 }, (_, n) => `s${n}`);
    await Promise.all(names.map((name) => store.append(conversation(name), records("a", 1))));
    await Promise.all([
      ...[0, 1, 2].map(() => store.erase({ owner: "owner-1" })),
      ...names.map((name) => store.append(conversation(name), records("b", 1))),
      ...names.map((name) => store.clear(conversation(name))),
    ]);
    await store.erase({ owner: "owner-1" });
    expect((await store.list({ allOwners: true })).items).toEqual([]);
  });

  test("of an owner who writes between any two statements comes to an end", async () => {
    const schema = freshSchema();
    const others = openStore({ schema });
    await others.append(conversation(), records("a", 1));
    const pool = openPool({ max: 1 });
    let batches = 0;
    const store = new PostgresHistoryStore(
      {
        pool: {
          connect(callback) {
            batches += 1;
            const write = batches < 20 ? others.append(conversation(), records(`b${batches}`, 1)) : Promise.resolve();
            write.then(
              () => pool.connect(callback),
              (error) => callback(error, undefined),
            );
          },
        },
      },
      { schema },
    );
    await store.read(conversation());
    batches = 0;
    expect((await store.erase({ owner: "owner-1" })).conversations).toBe(1);
    expect(batches).toBe(1);
  });
});
