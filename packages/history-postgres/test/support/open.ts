import { randomUUID } from "node:crypto";
import type { HistoryKey } from "@agentfw/core";
import type { OpenedHistoryStore, OpenOptions } from "@agentfw/provider-testing";
import { faultHooks, startFaultProxy } from "@agentfw/test-servers";
import { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { inject } from "vitest";
import { PostgresHistoryStore, type PostgresHistoryStoreOptions } from "../../src/index.ts";
import { conversationKey } from "../../src/keys.ts";
import { freshSchema, named } from "./postgres.ts";

type Options = PostgresHistoryStoreOptions & { schema: string };

/** How the tests look at the tables behind a store's back. */
type Query = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>;

/** Opens a store that connects itself, through a proxy. */
export function openOnServer(given: OpenOptions = {}): Promise<OpenedHistoryStore> {
  return openAt(inject("postgresUrl"), storeOptions(given));
}

/** Opens a store on partitioned tables behind PgBouncer in transaction mode, which passes no named statements on. */
export function openOnPgBouncer(given: OpenOptions = {}): Promise<OpenedHistoryStore> {
  return openAt(inject("pgBouncerUrl"), { ...storeOptions(given), prepare: false, partitions: 4 });
}

let embedded: Promise<PGlite> | undefined;

/** The PGlite database of this test file, which takes seconds to start. */
export function pglite(): Promise<PGlite> {
  embedded ??= PGlite.create();
  return embedded;
}

/** Opens a store on the PGlite database of this test file. */
export async function openOnPglite(given: OpenOptions = {}): Promise<OpenedHistoryStore> {
  const client = await pglite();
  const options = storeOptions(given);
  const query: Query = (text, values) => client.query(text, values);
  const open = () => new PostgresHistoryStore({ client }, options);
  return {
    store: open(),
    ...hooks(query, options),
    sharedClient: async () => ({ store: open(), isClientOpen: async () => !client.closed }),
  };
}

async function openAt(url: string, options: Options): Promise<OpenedHistoryStore> {
  const target = new URL(url);
  const proxy = await startFaultProxy({ host: target.hostname, port: Number(target.port || 5432) });
  target.host = `127.0.0.1:${proxy.port}`;
  const open = () => new PostgresHistoryStore({ connectionString: target.href }, options);
  const stores: PostgresHistoryStore[] = [];
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
    ...hooks((text, values) => admin.query(text, values), options),
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
      store: new PostgresHistoryStore({ pool: shared }, options),
      isClientOpen: async () => (await shared.query("SELECT 1")).rows.length === 1,
    }),
  };
}

function hooks(query: Query, { schema }: Options): Pick<OpenedHistoryStore, "corrupt" | "advanceTime"> {
  return {
    async corrupt(key: HistoryKey, position: number) {
      const record = named(schema, "record");
      const nth = `(SELECT seq FROM ${record} WHERE k = $1 AND seq > 0 ORDER BY seq OFFSET $2 LIMIT 1)`;
      await query(`UPDATE ${record} SET data = '{"cut' WHERE k = $1 AND seq = ${nth}`, [
        conversationKey(key),
        position,
      ]);
    },
    // Time passes for a store when all that it has noted lies further back.
    async advanceTime(milliseconds: number) {
      await query(
        `UPDATE ${named(schema, "conversation")} SET expires_at = expires_at - $1::float8 * interval '1 millisecond',
         updated_at = updated_at - $1::float8 * interval '1 millisecond',
         expires_hour = floor(extract(epoch FROM expires_at - $1::float8 * interval '1 millisecond') / 3600)`,
        [milliseconds],
      );
    },
  };
}

function storeOptions(given: OpenOptions): Options {
  // The kit stores a record at the limit only where the limit is small.
  return { maxRecordBytes: 4_000_000, ...given, schema: `${freshSchema()} ${randomUUID().slice(0, 4)}` };
}
