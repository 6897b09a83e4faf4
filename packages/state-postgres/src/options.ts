import { assertCount, assertObject, assertTimeout, configurationError } from "@agentfw/core";
import { assertOptions, assertTtlSeconds, assertWithin, withDefaults } from "@agentfw/core/backend";
import type { PostgresClient, PostgresPool } from "./client.ts";
import { assertSchemaName } from "./quoting.ts";

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

/** Options of `PostgresStateStore`. */
export interface PostgresStateStoreOptions {
  /** The schema that holds the tables; any identifier of 1 to 63 UTF-8 bytes, taken as it is. @default "agentfw" */
  readonly schema?: string | undefined;
  /** Create what is missing at the first call. With `false` the first call fails where it is missing. @default true */
  readonly autoMigrate?: boolean | undefined;
  /** Idle life of an item in seconds, renewed by writes to it only; 0.001 to 3,153,600,000 (100 years). @default forever */
  readonly ttlSeconds?: number | undefined;
  /** Largest text in UTF-8 bytes, 1 to 268,435,456. @default 8,388,608 */
  readonly maxValueBytes?: number | undefined;
  /** Let the server keep the plans of statements by name. Not through every pooler. @default true */
  readonly prepare?: boolean | undefined;
  /** Every call settles within this many milliseconds, connecting included. @default 5,000 */
  readonly timeoutMs?: number | undefined;
}

/** The options with defaults in place. */
export interface Settings {
  readonly schema: string;
  readonly autoMigrate: boolean;
  readonly ttlSeconds: number | undefined;
  readonly maxValueBytes: number;
  readonly prepare: boolean;
  readonly timeoutMs: number;
}

const MAX_VALUE_BYTES = 256 * 1024 * 1024;

/**
 * Checks the options and fills in defaults.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function resolveOptions(options: PostgresStateStoreOptions): Settings {
  const settings = withDefaults<Settings>(options, "options", {
    schema: "agentfw",
    autoMigrate: true,
    ttlSeconds: undefined,
    maxValueBytes: 8 * 1024 * 1024,
    prepare: true,
    timeoutMs: 5000,
  });
  assertSchemaName(settings.schema);
  assertWithin(settings.maxValueBytes, "maxValueBytes", 1, MAX_VALUE_BYTES);
  assertTtlSeconds(settings.ttlSeconds);
  assertTimeout(settings.timeoutMs, "timeoutMs");
  return settings;
}

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
