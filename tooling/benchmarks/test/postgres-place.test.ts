import { startPostgres } from "@agentfw/test-servers";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { openPostgres } from "../src/postgres-place.ts";
import { keyOf } from "../src/store-records.ts";

let url = "";
let pool: pg.Pool;
let stop: () => Promise<void>;

beforeAll(async () => {
  const server = await startPostgres();
  ({ url, stop } = server);
  pool = new pg.Pool({ connectionString: url });
  pool.on("error", () => {});
});

afterAll(async () => {
  await pool.end();
  await stop();
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const two = [
  { id: "a", data: '"a"' },
  { id: "b", data: '"b"' },
];

it("starts a server as one runs it, fills it, counts its statements and its log, and ends it", async () => {
  vi.stubEnv("DATABASE_URL", undefined);
  const place = await openPostgres(1500);
  expect(place.url).not.toBe(url);
  for (const setting of ["fsync", "synchronous_commit", "full_page_writes"]) {
    expect((await place.pool.query(`SHOW ${setting}`)).rows).toEqual([{ [setting]: "on" }]);
  }
  expect((await place.pool.query(`SELECT count(*)::int AS rows FROM ${place.table}`)).rows).toEqual([{ rows: 1500 }]);
  expect((await place.store.read(keyOf("other-1000"))).records).toHaveLength(500);
  const count = (operation: () => unknown) => place.counted({ name: "x", operation }).countRoundTrips?.();
  expect(await count(() => place.insert("s", two))).toBe(1);
  expect(await count(() => Promise.all([place.insert("s", two), place.store.read(keyOf("s"))]))).toBe(2);
  expect(await count(() => {})).toBe(0);
  const logged = (operation: () => unknown) => place.counted({ name: "x", operation }).countLogBytes?.();
  const data = "x".repeat(1000);
  expect(await logged(() => place.insert("s", [{ id: "a", data }]))).toBeGreaterThan(1000);
  expect(await logged(() => place.pool.query("SELECT 1"))).toBeLessThan(100);
  await place.close();
  const isThere = async () => {
    const again = new pg.Client({ connectionString: place.url });
    again.on("error", () => {});
    return again.connect().then(
      () => again.end(),
      () => "gone",
    );
  };
  await expect.poll(isThere, { timeout: 10_000 }).toBe("gone");
});

it("leaves nothing on a server that was there before, and takes nothing else away", async () => {
  vi.stubEnv("DATABASE_URL", url);
  await pool.query('CREATE SCHEMA "agentfw-benchmarks"');
  const place = await openPostgres(40);
  expect(place.url).toBe(url);
  await place.insert("s", two);
  // Nobody asked for the extension that counts.
  expect(place.counted({ name: "x", operation: () => {} }).countRoundTrips).toBeUndefined();
  await place.settle();
  await place.close();
  const { rows } = await pool.query("SELECT nspname FROM pg_namespace WHERE nspname ~ '^agentfw'");
  expect(rows).toEqual([{ nspname: "agentfw-benchmarks" }]);
  expect((await pool.query("SELECT extname FROM pg_extension")).rows).toEqual([{ extname: "plpgsql" }]);
});

it("says so when the server that is named cannot be reached", async () => {
  vi.stubEnv("DATABASE_URL", "postgres://127.0.0.1:1/db");
  await expect(openPostgres(0)).rejects.toThrow(/^The PostgreSQL server cannot be used: .*ECONNREFUSED/);
});
