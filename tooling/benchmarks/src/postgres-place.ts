import { randomUUID } from "node:crypto";
import { HistoryProvider, type HistoryRecord } from "@agentfw/core";
import { PostgresHistoryStore } from "@agentfw/history-postgres";
import { type PostgresServer, startPostgres } from "@agentfw/test-servers";
import pg from "pg";
import { LOADED_MESSAGES } from "./conversation.ts";
import { BenchmarkError } from "./errors.ts";
import type { Operation } from "./measurement.ts";
import type { PeerPlace } from "./peer.ts";
import { inPieces, keyOf } from "./store-records.ts";

/** Conversations of so many messages are what stands beside the one that is measured. */
const OTHER_LENGTH = 1000;

/** Operations over which the growth of the log is averaged. */
const LOGGED_OPERATIONS = 50;

/** A server as one runs it, and no checkpoint in the middle of a measurement. */
const SETTINGS: Readonly<Record<string, string>> = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "256MB",
  max_wal_size: "8GB",
  checkpoint_timeout: "1h",
  shared_preload_libraries: "pg_stat_statements",
};

/** A PostgreSQL server for one job, and a schema of the job's own on it. */
export interface PostgresPlace extends PeerPlace {
  /** Connections for what is done by hand. */
  readonly pool: pg.Pool;
  /** The table of what is done by hand: `session`, `seq`, `id` and `data`, and no index but its primary key. */
  readonly table: string;
  /** Our store, in a schema of its own. */
  readonly store: PostgresHistoryStore;
  readonly provider: HistoryProvider;
  /** Appends to the table by hand, in one statement. */
  insert(session: string, added: readonly HistoryRecord[]): Promise<unknown>;
  /** Lets the statements be counted that the server is sent for one operation, and the bytes that it logs. */
  counted(operation: Operation): Operation;
  /** To be called when all is there that a job begins with: the server writes it out, and learns what it is. */
  settle(): Promise<void>;
  /** Removes what is stored in the place, and ends a server that was started. */
  close(): Promise<void>;
}

/**
 * Starts a server, or goes to the one that `DATABASE_URL` names. The table and the store each hold `others` messages of
 * other conversations.
 */
export async function openPostgres(others: number): Promise<PostgresPlace> {
  const given = process.env["DATABASE_URL"];
  const server = given === undefined ? await startServer() : undefined;
  const url = given ?? server?.url ?? "";
  const pool = new pg.Pool({ connectionString: url });
  pool.on("error", () => {});
  const isCounting = await connect(pool, server !== undefined);
  const prefix = `agentfw-benchmarks-${randomUUID().slice(0, 8)}`;
  const table = `"${prefix}".raw`;
  const store = new PostgresHistoryStore({ connectionString: url }, { schema: `${prefix}-store` });
  const insert = (session: string, added: readonly HistoryRecord[]) => insertMany(pool, table, session, added);
  const place: PostgresPlace = {
    url,
    prefix,
    others,
    pool,
    table,
    store,
    provider: new HistoryProvider(store, { maxMessages: LOADED_MESSAGES }),
    insert,
    counted: (operation) => ({
      ...operation,
      countRoundTrips: isCounting ? () => countStatements(pool, operation) : undefined,
      countLogBytes: () => countLogBytes(pool, operation),
    }),
    async settle() {
      if (server !== undefined) {
        await pool.query("VACUUM (ANALYZE)");
        await pool.query("CHECKPOINT");
      }
    },
    async close() {
      await store.close();
      await removeSchemas(pool, prefix);
      await pool.end();
      // Not waited for: it goes by itself, also when this process ends before.
      void server?.stop();
    },
  };
  await fill(place, others);
  return place;
}

async function startServer(): Promise<PostgresServer> {
  try {
    return await startPostgres({ settings: SETTINGS });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BenchmarkError(`No PostgreSQL server could be started: ${reason}`, { cause });
  }
}

/** Tells whether the server counts its statements. On one that is somebody's, nothing is created for that. */
async function connect(pool: pg.Pool, isOurs: boolean): Promise<boolean> {
  try {
    await pool.query(isOurs ? "CREATE EXTENSION pg_stat_statements" : "SELECT 1");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message || "connection refused" : String(cause);
    throw new BenchmarkError(`The PostgreSQL server cannot be used: ${reason}`, { cause });
  }
  return pool.query("SELECT count(*) FROM pg_stat_statements").then(
    () => true,
    () => false,
  );
}

async function fill(place: PostgresPlace, others: number): Promise<void> {
  const { pool, prefix, table, store, insert } = place;
  await pool.query(`CREATE SCHEMA "${prefix}"`);
  await pool.query(
    `CREATE TABLE ${table} (session text, seq bigint GENERATED ALWAYS AS IDENTITY, id text NOT NULL, data text NOT NULL,
     PRIMARY KEY (session, seq))`,
  );
  for (let start = 0; start < others; start += OTHER_LENGTH) {
    const count = Math.min(OTHER_LENGTH, others - start);
    await inPieces(count, (piece) => insert(`other-${start}`, piece));
    await inPieces(count, (piece) => store.append(keyOf(`other-${start}`), piece));
  }
}

function insertMany(pool: pg.Pool, table: string, session: string, added: readonly HistoryRecord[]) {
  return pool.query(`INSERT INTO ${table} (session, id, data) SELECT $1, * FROM unnest($2::text[], $3::text[])`, [
    session,
    added.map(({ id }) => id),
    added.map(({ data }) => data),
  ]);
}

/** What the server counted while an operation ran, without what functions ask inside of it. Nobody else may use it. */
async function countStatements(pool: pg.Pool, { operation }: Operation): Promise<number> {
  const before = await callsSoFar(pool);
  await operation();
  return (await callsSoFar(pool)) - before;
}

async function callsSoFar(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(
    `SELECT sum(calls)::integer AS calls FROM pg_stat_statements JOIN pg_database AS d ON d.oid = dbid
     WHERE d.datname = current_database() AND query !~ 'pg_stat_statements'`,
  );
  return Number(rows[0]?.calls ?? 0);
}

async function countLogBytes(pool: pg.Pool, { operation, maxOperations = LOGGED_OPERATIONS }: Operation) {
  const count = Math.min(LOGGED_OPERATIONS, maxOperations);
  const before = await logPosition(pool);
  for (let done = 0; done < count; done += 1) {
    await operation();
  }
  return ((await logPosition(pool)) - before) / count;
}

async function logPosition(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS bytes");
  return Number(rows[0]?.bytes);
}

async function removeSchemas(pool: pg.Pool, prefix: string): Promise<void> {
  const { rows } = await pool.query("SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1)", [prefix]);
  for (const { nspname } of rows) {
    await pool.query(`DROP SCHEMA "${nspname}" CASCADE`);
  }
}
