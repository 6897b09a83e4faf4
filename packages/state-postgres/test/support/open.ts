import type { OpenedStateStore, OpenOptions } from "@agentfw/provider-testing";
import { faultHooks, startFaultProxy } from "@agentfw/test-servers";
import { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { inject } from "vitest";
import { PostgresStateStore, type PostgresStateStoreOptions } from "../../src/index.ts";
import { freshSchema, named } from "./postgres.ts";

type Options = PostgresStateStoreOptions & { schema: string };

/** How the tests look at the tables behind a store's back. */
type Query = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>;

/** Opens a store that connects itself, through a proxy. */
export function openOnServer(given: OpenOptions = {}): Promise<OpenedStateStore> {
  return openAt(inject("postgresUrl"), storeOptions(given));
}

/** Opens a store behind PgBouncer in transaction mode, which passes no named statements on. */
export function openOnPgBouncer(given: OpenOptions = {}): Promise<OpenedStateStore> {
  return openAt(inject("pgBouncerUrl"), { ...storeOptions(given), prepare: false });
}

let embedded: Promise<PGlite> | undefined;

/** The PGlite database of this test file, which takes seconds to start. */
export function pglite(): Promise<PGlite> {
  embedded ??= PGlite.create();
  return embedded;
}

/** Opens a store on the PGlite database of this test file. */
export async function openOnPglite(given: OpenOptions = {}): Promise<OpenedStateStore> {
  const client = await pglite();
  const options = storeOptions(given);
  const query: Query = (text, values) => client.query(text, values);
  const open = () => new PostgresStateStore({ client }, options);
  return {
    store: open(),
    advanceTime: (milliseconds) => advanceTime(query, options, milliseconds),
    sharedClient: async () => ({ store: open(), isClientOpen: async () => !client.closed }),
  };
}

async function openAt(url: string, options: Options): Promise<OpenedStateStore> {
  const target = new URL(url);
  const proxy = await startFaultProxy({ host: target.hostname, port: Number(target.port || 5432) });
  target.host = `127.0.0.1:${proxy.port}`;
  const open = () => new PostgresStateStore({ connectionString: target.href }, options);
  const stores: PostgresStateStore[] = [];
  try {
    stores.push(open());
  } catch (error) {
    // Bad options must not leave a proxy behind.
    await proxy.close();
    throw error;
  }
  const admin = new pg.Pool({ connectionString: inject("postgresUrl"), max: 1 });
  const shared = new pg.Pool({ connectionString: url });
  return {
    store: stores[0]!,
    advanceTime: (milliseconds) => advanceTime((text, values) => admin.query(text, values), options, milliseconds),
    async another() {
      stores.push(open());
      return stores.at(-1)!;
    },
    async close() {
      await Promise.all(stores.map((store) => store.close()));
      await Promise.all([admin.end(), shared.end(), proxy.close()]);
    },
    ...faultHooks(proxy),
    sharedClient: async () => ({
      store: new PostgresStateStore({ pool: shared }, options),
      isClientOpen: async () => (await shared.query("SELECT 1")).rows.length === 1,
    }),
  };
}

/** Time passes for a store when all that it has noted lies further back. */
async function advanceTime(query: Query, { schema }: Options, milliseconds: number): Promise<void> {
  const past = "expires_at - $1::float8 * interval '1 millisecond'";
  await query(
    `UPDATE ${named(schema, "item")} SET expires_at = ${past},
     expires_hour = floor(extract(epoch FROM ${past}) / 3600)`,
    [milliseconds],
  );
}

function storeOptions(given: OpenOptions): Options {
  // The kit stores a text at the limit only where the limit is small.
  return { maxValueBytes: 4_000_000, ...given, schema: freshSchema() };
}
