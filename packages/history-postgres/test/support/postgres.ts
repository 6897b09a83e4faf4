import { randomUUID } from "node:crypto";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
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
