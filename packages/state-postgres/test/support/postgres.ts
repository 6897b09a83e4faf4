import { randomUUID } from "node:crypto";
import { type AgentFrameworkError, isAgentFrameworkError, type StateListOptions, type StateStore } from "@agentfw/core";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
// Compiled before the deadline of a first call runs.
import "../../src/engine.ts";
import { PostgresStateStore, type PostgresStateStoreOptions } from "../../src/index.ts";

/** A schema that no other test has, under a name that must be quoted. */
export function freshSchema(): string {
  return `Test-State ${randomUUID().slice(0, 13)}`;
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
  options: PostgresStateStoreOptions & { connectionString?: string; maxConnections?: number } = {},
): PostgresStateStore {
  const { connectionString = inject("postgresUrl"), maxConnections, ...rest } = options;
  const store = new PostgresStateStore({ connectionString, maxConnections }, { schema: freshSchema(), ...rest });
  onTestFinished(() => store.close());
  return store;
}

/** The URL with another user or other parts in it. */
export function urlWith(parts: Partial<Pick<URL, "username" | "password" | "port" | "pathname" | "host">>): string {
  return Object.assign(new URL(inject("postgresUrl")), parts).href;
}

/** A table or function of a schema, quoted. */
export function named(schema: string, name: string): string {
  return `"${schema}".state_${name}`;
}

/** How many rows there are of items and of tags. */
export async function rowsIn(schema: string): Promise<{ items: number; tags: number }> {
  const { rows } = await openPool().query(
    `SELECT (SELECT count(*)::int FROM ${named(schema, "item")}) AS items,
     (SELECT count(*)::int FROM ${named(schema, "tag")}) AS tags`,
  );
  return rows[0];
}

/** Lets time pass for the items whose key is like this, so that they have expired. */
export async function age(schema: string, keys: string): Promise<void> {
  await openPool().query(
    `UPDATE ${named(schema, "item")} SET expires_at = now() - interval '1 second',
     expires_hour = floor(extract(epoch FROM now() - interval '1 second') / 3600) WHERE key LIKE $1`,
    [keys],
  );
}

/** The keys of all pages. */
export async function keysOf(store: StateStore, options: StateListOptions = {}): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.listKeys({ ...options, cursor });
    found.push(...page.keys.map(({ key }) => key));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

/** The framework's error that a call rejects with. */
export async function rejection(call: Promise<unknown>): Promise<AgentFrameworkError> {
  try {
    await call;
  } catch (error) {
    if (isAgentFrameworkError(error)) {
      return error;
    }
    throw error;
  }
  throw new Error("it resolved");
}

/** Resolves when it holds. Fails after half a minute, which a test never needs unless something is broken. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 25_000;
  while (!(await holds())) {
    if (Date.now() > deadline) {
      throw new Error("not in time");
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
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
