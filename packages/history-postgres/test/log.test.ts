import { startPostgres } from "@agentfw/test-servers";
import { expect, onTestFinished, test } from "vitest";
import { conversation, records } from "./support/conversation.ts";
import { freshSchema, openPool, openStore } from "./support/postgres.ts";

test("a turn logs at most 2.5 kB for two messages of 120 and 600 characters", async () => {
  // A server of its own, because all that a server does goes to one log.
  const server = await startPostgres({ settings: { full_page_writes: "off", autovacuum: "off" } });
  onTestFinished(() => server.stop());
  const store = openStore({ connectionString: server.url, schema: freshSchema(), ttlSeconds: 86_400 });
  for (let session = 0; session < 5; session += 1) {
    await store.append(conversation(`other-${session}`), records(`o${session}`, 2000));
  }
  const message = (role: string, length: number, id: string) => ({
    id,
    data: JSON.stringify({ role, contents: [{ type: "text", text: "x".repeat(length) }], messageId: id }),
  });
  const append = (turn: number) => {
    const user = message("user", 120, `8b7c1f4e-0c52-4f0a-9d3e-${String(turn).padStart(12, "0")}`);
    const assistant = message("assistant", 600, `run-${turn}-7d0a4a55-assistant`);
    return store.append(conversation(), [user, assistant]);
  };
  await append(0);
  const admin = openPool({ connectionString: server.url, max: 1 });
  const text = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS position";
  const before = (await admin.query(text)).rows[0].position;
  for (let turn = 1; turn <= 100; turn += 1) {
    await append(turn);
  }
  const bytes = ((await admin.query(text)).rows[0].position - before) / 100;
  expect(bytes).toBeGreaterThan(720);
  expect(bytes).toBeLessThan(2500);
});
