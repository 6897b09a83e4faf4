import { assertCount, assertObject, configurationError } from "@agentfw/core";
import { assertOptions } from "@agentfw/core/backend";
import type { PostgresClient, PostgresPool } from "./client.ts";

/** Where the database is: an address that the store connects to itself, or a pool or client that stays the caller's. */
export type PostgresConnectionOptions =
  | {
      /** `postgres://` or `postgresql://`, with user, password, port, database and `sslmode` as far as they are needed. */
      readonly connectionString: string;
      /** How many connections the store opens at most. @default 10 */
      readonly maxConnections?: number | undefined;
      readonly pool?: undefined;
      readonly client?: undefined;
    }
  | {
      /** A `Pool` of pg. The store never ends it. */
      readonly pool: PostgresPool;
      readonly connectionString?: undefined;
      readonly client?: undefined;
    }
  | {
      /** A PGlite database, or one connected `Client` of pg. The store never closes it, and prepares nothing on it. */
      readonly client: PostgresClient;
      readonly connectionString?: undefined;
      readonly pool?: undefined;
    };

/** A checked address. */
export interface Address {
  readonly connectionString: string;
  readonly maxConnections: number;
}

/** What a store works on, checked. */
export type ResolvedConnection =
  | { readonly address: Address }
  | { readonly pool: PostgresPool }
  | { readonly client: PostgresClient };

const KNOWN_OF_CONNECTION: readonly string[] = ["connectionString", "maxConnections", "pool", "client"];

/**
 * Checks that exactly one of `connectionString`, `pool` and `client` is there, and nothing that would be without effect.
 *
 * @throws `configuration`, without the address in its message, because that may hold a password.
 */
export function resolveConnection(connection: PostgresConnectionOptions): ResolvedConnection {
  assertObject(connection, "connection");
  const { connectionString, pool, client } = connection;
  if ([connectionString, pool, client].filter((one) => one !== undefined).length !== 1) {
    throw configurationError("connection", "must have exactly one of connectionString, pool and client");
  }
  // Not before: whoever passes the pool itself must not be told of the names in it.
  assertOptions(connection, "connection", KNOWN_OF_CONNECTION);
  if (connectionString === undefined && "maxConnections" in connection && connection.maxConnections !== undefined) {
    throw configurationError("maxConnections", "goes with a connectionString only");
  }
  if (pool !== undefined) {
    if (!hasMethod(pool, "connect")) {
      throw configurationError("pool", "must have a connect method, as Pool of pg does");
    }
    return { pool };
  }
  if (client !== undefined) {
    if (!hasMethod(client, "query")) {
      throw configurationError("client", "must have a query method, as PGlite does");
    }
    if (typeof Reflect.get(client, "totalCount") === "number") {
      throw configurationError("client", "is a pool, which has connections for many; pass it as pool");
    }
    return { client };
  }
  assertConnectionString(connectionString);
  const { maxConnections = 10 } = connection;
  assertCount(maxConnections, "maxConnections", 1);
  return { address: { connectionString, maxConnections } };
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, name) === "function";
}

function assertConnectionString(text: unknown): asserts text is string {
  if (typeof text !== "string" || !/^\s*postgres(ql)?:/i.test(text) || !URL.canParse(text)) {
    throw configurationError("connectionString", "must be a URL that begins with postgres:// or postgresql://");
  }
}
