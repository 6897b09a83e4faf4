import { randomUUID } from "node:crypto";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
// Compiled before the deadline of a first call runs.
import "../../src/engine.ts";
import { PostgresHistoryStore, type PostgresHistoryStoreOptions } from "../../src/index.ts";

/** A schema that no other test has, under a name that must be quoted. */
export function freshSchema(): string {
  return `Test-Hist ${randomUUID().slice(0, 13)}`;
}

/** A pool of the test's own, which ends with it. */
export function openPool(options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: inject("postgresUrl"), ...options });
  pool.on("error", () => {});
  onTestFinished(() => pool.end());
  return pool;
}

/** A store in a schema of its own. */
export function openStore(
  options: PostgresHistoryStoreOptions & { connectionString?: string; maxConnections?: number } = {},
): PostgresHistoryStore {
  const { connectionString = inject("postgresUrl"), maxConnections, ...rest } = options;
  const store = new PostgresHistoryStore({ connectionString, maxConnections }, { schema: freshSchema(), ...rest });
  onTestFinished(() => store.close());
  return store;
}

/** The URL with another user or other parts in it. */
export function urlWith(parts: Partial<Pick<URL, "username" | "password" | "port" | "pathname" | "host">>): string {
  return Object.assign(new URL(inject("postgresUrl")), parts).href;
}

/** A table or function of a schema, quoted. */
export function named(schema: string, name: string): string {
  return `"${schema}".history_${name}`;
}

/** A role that may log in and nothing else, and what it connects with. */
export async function newRole(): Promise<{ role: string; connectionString: string }> {
  const admin = openPool();
  const role = `role ${freshSchema().slice(-13)}`;
  await admin.query(`CREATE ROLE "${role}" LOGIN`);
  onTestFinished(async () => {
    await admin.query(`DROP OWNED BY "${role}"`);
    await admin.query(`DROP ROLE "${role}"`);
  });
  return { role, connectionString: urlWith({ username: encodeURIComponent(role) }) };
}

/** What an app's role needs, as the README says. */
export function grants(schema: string, role: string): string {
  return `GRANT USAGE ON SCHEMA "${schema}" TO "${role}";
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO "${role}"`;
}
