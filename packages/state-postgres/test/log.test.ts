import { startPostgres } from "@agentfw/test-servers";
import { expect, onTestFinished, test } from "vitest";
import { freshSchema, openPool, openStore } from "./support/postgres.ts";

test("a write logs what it changes of a text, and not the whole of it", async () => {
  // A server of its own, because all that a server does goes to one log.
  const server = await startPostgres({ settings: { full_page_writes: "off", autovacuum: "off" } });
  onTestFinished(() => server.stop());
  const store = openStore({ connectionString: server.url, schema: freshSchema() });
  const notes = Array.from({ length: 1800 }, (_, index) => String.fromCharCode(97 + ((index * index) % 26))).join("");
  const options = { owner: "owner-1", tags: { kind: "session" } };
  const write = (turns: number) => store.set("a", JSON.stringify({ turns, notes }), options);
  await write(100);
  const admin = openPool({ connectionString: server.url, max: 1 });
  const text = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS position";
  const before = (await admin.query(text)).rows[0].position;
  for (let turns = 101; turns <= 150; turns += 1) {
    await write(turns);
  }
  const bytes = ((await admin.query(text)).rows[0].position - before) / 50;
  expect(bytes).toBeGreaterThan(100);
  expect(bytes).toBeLessThan(1000);
});
