import { configurationError } from "@agentfw/core";
import type { Lease as AnyLease, LeasedAnswer, LeasedCall, LeasingConnection } from "@agentfw/core/backend";
import type { Pool } from "pg";
import type { PostgresClient, PostgresPool, PostgresPoolClient, PostgresResult, PostgresStatement } from "./client.ts";
import type { ResolvedConnection } from "./connection-options.ts";
import { PostgresProblem } from "./errors.ts";

/** A row as the driver gave it, by position. */
export type Row = readonly unknown[];

type Lease = AnyLease<PostgresStatement, readonly Row[]>;

/** What is asked of the server. */
export type Call = LeasedCall<PostgresStatement>;

/** What the server gave. */
export type Answer = LeasedAnswer<readonly Row[]>;

/** The way to the server. */
export type Connection = LeasingConnection<PostgresStatement, readonly Row[]>;

/**
 * The way that the options say. Loads the driver where it is needed: whoever passes a pool in has one already.
 *
 * @param timeoutMs What connecting may take where that is up to the store.
 */
export async function connectionOf(resolved: ResolvedConnection, timeoutMs: number): Promise<Connection> {
  if ("pool" in resolved) {
    return { reconnects: true, lease: () => leaseFrom(resolved.pool), close: async () => {} };
  }
  if ("client" in resolved) {
    return clientConnection(resolved.client);
  }
  const { default: pg } = await import("pg");
  const { connectionString, maxConnections } = resolved.address;
  const open = () => {
    const pool = new pg.Pool({
      connectionString,
      max: maxConnections,
      connectionTimeoutMillis: Math.ceil(timeoutMs),
      // An idle connection must not keep a program from ending.
      allowExitOnIdle: true,
    });
    // Idle connections that end are replaced when they are needed.
    pool.on("error", () => {});
    return pool;
  };
  return ownConnection(open);
}

/** A connection of a pool: one at a time for each call, so a pool of one is enough. */
function leaseFrom(pool: PostgresPool): Promise<Lease> {
  return new Promise((resolve, reject) => {
    let isHeard = false;
    const promised: unknown = pool.connect((error, client) => {
      isHeard = true;
      if (client === undefined) {
        reject(error ?? new PostgresProblem("the pool gave no connection"));
      } else if (typeof client.release !== "function") {
        reject(configurationError("pool", "lends what cannot be given back; a single client of pg goes into client"));
      } else {
        resolve(leaseOf(client));
      }
    });
    if (promised instanceof Promise) {
      const refuse = (client: { release?: () => void } | undefined) => {
        if (!isHeard) {
          client?.release?.();
          reject(configurationError("pool", "lends by a promise only; connect must call back, as that of pg does"));
        }
      };
      promised.then(refuse, reject);
    }
  });
}

function leaseOf(client: PostgresPoolClient): Lease {
  // The statement that is under way hears of it too.
  const onError = () => {};
  client.on("error", onError);
  return {
    send: (statement) => client.query(statement).then(rowsOf),
    release(destroy) {
      client.release(destroy);
      if (!destroy) {
        client.removeListener("error", onError);
      }
    },
  };
}

/** A pool of our own, made at the first call. */
function ownConnection(open: () => Pool): Connection {
  let pool: Pool | undefined;
  const lease = () => {
    pool ??= open();
    return leaseFrom(pool);
  };
  return { reconnects: true, lease, close: async () => pool?.end() };
}

/** One client without a pool. What it does when its connection ends, its owner decided. */
function clientConnection(client: PostgresClient): Connection {
  const lease: Lease = {
    send: ({ text, values }) => client.query(text, values).then(rowsOf),
    release: () => {},
  };
  return { reconnects: false, lease: async () => lease, close: async () => {} };
}

/** Rows by position, whether the driver gives lists or objects. */
function rowsOf({ rows }: PostgresResult): readonly Row[] {
  if (!Array.isArray(rows)) {
    throw new PostgresProblem("the client gave no rows");
  }
  // A client gives all of them in one way.
  return Array.isArray(rows[0]) ? rows : rows.map((row: unknown) => Object.values(Object(row)));
}
