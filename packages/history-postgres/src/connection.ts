import { AgentFrameworkError, configurationError, withDeadline } from "@agentfw/core";
import type { PostgresClient, PostgresPool, PostgresPoolClient, PostgresResult, PostgresStatement } from "./client.ts";
import { PostgresProblem } from "./errors.ts";
import type { Address, ResolvedConnection } from "./options.ts";
import { PROVIDER } from "./provider.ts";

/** A row as the driver gave it, by position. */
export type Row = readonly unknown[];

/** One connection, lent for one statement. */
export interface Lease {
  query(statement: PostgresStatement): Promise<readonly Row[]>;
  /** Gives it back, once; `true` ends it, also while a statement is under way. */
  release(destroy: boolean): void;
}

/** The way to the server. */
export interface Connection {
  /** True when statements whose connection ended may be sent again here: there is another connection. */
  readonly reconnects: boolean;
  /** Waits for a connection. @throws what kept it from connecting; the next call tries again. */
  lease(): Promise<Lease>;
  /** Ends what `lease` began. */
  close(): Promise<void>;
}

/** The way that the options say. @param timeoutMs What connecting and closing may take where that is up to the store. */
export function connectionOf(resolved: ResolvedConnection, timeoutMs: number): Connection {
  if ("pool" in resolved) {
    return new PoolConnection(resolved.pool);
  }
  return "client" in resolved ? new ClientConnection(resolved.client) : new OwnConnection(resolved.address, timeoutMs);
}

/** Connections of a pool: one at a time for each call, so a pool of one is enough. */
class PoolConnection implements Connection {
  readonly reconnects = true;
  readonly #pool: PostgresPool;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  lease(): Promise<Lease> {
    return new Promise((resolve, reject) => {
      let isHeard = false;
      const promised: unknown = this.#pool.connect((error, client) => {
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

  async close(): Promise<void> {}
}

function leaseOf(client: PostgresPoolClient): Lease {
  // The statement that is under way hears of it too.
  const onError = () => {};
  client.on("error", onError);
  let isReleased = false;
  return {
    query: (statement) => client.query(statement).then(rowsOf),
    release(destroy) {
      if (!isReleased) {
        isReleased = true;
        client.release(destroy);
        if (!destroy) {
          client.removeListener("error", onError);
        }
      }
    },
  };
}

/** A pool of our own, made at the first call. */
class OwnConnection implements Connection {
  readonly reconnects = true;
  readonly #address: Address;
  readonly #timeoutMs: number;
  /** Gives up what waits for a connection. The driver forgets those who wait when its pool ends. */
  readonly #waiting = new Set<(error: Error) => void>();
  #opened: Promise<{ connection: PoolConnection; end(): Promise<void> }> | undefined;
  /** What was opened, once it is: a call then waits for nothing but a connection. */
  #pool: PoolConnection | undefined;
  #isClosed = false;

  constructor(address: Address, timeoutMs: number) {
    this.#address = address;
    this.#timeoutMs = timeoutMs;
  }

  lease(): Promise<Lease> {
    const pool = this.#pool;
    return pool === undefined ? this.#leaseFromNew() : this.#wait(pool);
  }

  async #leaseFromNew(): Promise<Lease> {
    if (this.#isClosed) {
      throw closedError();
    }
    this.#opened ??= this.#open().catch((error) => {
      this.#opened = undefined;
      throw error;
    });
    const { connection } = await this.#opened;
    if (this.#isClosed) {
      throw closedError();
    }
    this.#pool = connection;
    return this.#wait(connection);
  }

  #wait(pool: PoolConnection): Promise<Lease> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      pool.lease().then(
        (lease) => (this.#waiting.delete(reject) ? resolve(lease) : lease.release(true)),
        (error) => {
          this.#waiting.delete(reject);
          reject(error);
        },
      );
    });
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#isClosed = true;
    this.#opened = undefined;
    this.#pool = undefined;
    for (const giveUp of this.#waiting) {
      giveUp(closedError());
    }
    this.#waiting.clear();
    const deadline = { kind: "read", provider: PROVIDER, timeoutMs: this.#timeoutMs } as const;
    // The driver waits for the server to end each connection, and a server may be out of reach. What was never opened, or
    // does not end in time, is nothing that a caller could do more about.
    await withDeadline("close", deadline, async () => (await opened)?.end()).catch(() => undefined);
  }

  async #open() {
    // Loaded here, because whoever passes a pool in has a driver already.
    const { default: pg } = await import("pg");
    const pool = new pg.Pool({
      connectionString: this.#address.connectionString,
      max: this.#address.maxConnections,
      connectionTimeoutMillis: Math.ceil(this.#timeoutMs),
      // An idle connection must not keep a program from ending.
      allowExitOnIdle: true,
    });
    // Idle connections that end are replaced when they are needed.
    pool.on("error", () => {});
    return { connection: new PoolConnection(pool), end: () => pool.end() };
  }
}

/** For a call that was made before `close` and has not got a connection until then. */
function closedError(): AgentFrameworkError {
  return new AgentFrameworkError("configuration", "the store was closed before a connection came free", {
    provider: PROVIDER,
  });
}

/** One client without a pool. What it does when its connection ends, its owner decided. */
class ClientConnection implements Connection {
  readonly reconnects = false;
  readonly #lease: Lease;

  constructor(client: PostgresClient) {
    this.#lease = {
      query: ({ text, values }) => client.query(text, values).then(rowsOf),
      release: () => {},
    };
  }

  async lease(): Promise<Lease> {
    return this.#lease;
  }

  async close(): Promise<void> {}
}

/** Rows by position, whether the driver gives lists or objects. */
function rowsOf({ rows }: PostgresResult): readonly Row[] {
  if (!Array.isArray(rows)) {
    throw new PostgresProblem("the client gave no rows");
  }
  // A client gives all of them in one way.
  return Array.isArray(rows[0]) ? rows : rows.map((row: unknown) => Object.values(Object(row)));
}
