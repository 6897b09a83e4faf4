import { assertTimeout, configurationError } from "@agentfw/core";
import { assertOptions, assertTtlSeconds, assertWithin } from "@agentfw/core/backend";
import type { RedisClient } from "./client.ts";

/** Where the server is: an address that the store connects to itself, or a client that the caller keeps. */
export type RedisStateStoreConnection =
  | {
      /** `redis://` or `rediss://` with host and, where needed, user, password, port and database. One node. */
      readonly url: string;
      readonly client?: undefined;
    }
  | {
      /** A client for one node, Sentinel or a cluster. `close()` leaves it open. */
      readonly client: RedisClient;
      readonly url?: undefined;
    };

/** Options of `RedisStateStore`. */
export interface RedisStateStoreOptions {
  /** Beginning of every key: 1 to 200 characters without spaces, control characters and braces. @default "agentfw" */
  readonly keyPrefix?: string | undefined;
  /** Idle life of an item, renewed by writes to it: 0.001 to 3,153,600,000. @default forever */
  readonly ttlSeconds?: number | undefined;
  /** Largest text in UTF-8 bytes, 1 to 268,435,456. @default 8,388,608 */
  readonly maxValueBytes?: number | undefined;
  /** Every call settles within this many milliseconds, connecting included. @default 5,000 */
  readonly timeoutMs?: number | undefined;
}

/** The options with defaults in place. */
export interface RedisSettings {
  readonly keyPrefix: string;
  /** Whole milliseconds; 0 is forever. */
  readonly ttlMs: number;
  readonly maxValueBytes: number;
  readonly timeoutMs: number;
}

/** A server's address, taken apart. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** Empty for none, as the password. */
  readonly username: string;
  readonly password: string;
  readonly database: number;
  readonly isTls: boolean;
}

const KNOWN: readonly string[] = ["keyPrefix", "ttlSeconds", "maxValueBytes", "timeoutMs"];
const MAX_VALUE_BYTES = 256 * 1024 * 1024;

/**
 * Checks the options and fills in defaults.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function resolveOptions(options: RedisStateStoreOptions): RedisSettings {
  assertOptions(options, "options", KNOWN);
  const { keyPrefix = "agentfw", ttlSeconds, maxValueBytes = 8 * 1024 * 1024, timeoutMs = 5_000 } = options;
  if (typeof keyPrefix !== "string" || !/^[^\s{}\p{Cc}\p{Cs}]{1,200}$/u.test(keyPrefix)) {
    throw configurationError("keyPrefix", "must be 1 to 200 characters without spaces, control characters and braces");
  }
  assertTtlSeconds(ttlSeconds);
  assertWithin(maxValueBytes, "maxValueBytes", 1, MAX_VALUE_BYTES);
  assertTimeout(timeoutMs, "timeoutMs");
  return { keyPrefix, ttlMs: Math.ceil((ttlSeconds ?? 0) * 1_000), maxValueBytes, timeoutMs };
}

/**
 * Checks where the server is. Connects to nothing.
 *
 * @throws `configuration`, without the address in its message, because that may hold a password.
 */
export function resolveConnection(connection: RedisStateStoreConnection): Address | RedisClient {
  assertOptions(connection, "connection", ["url", "client"]);
  const { url, client } = connection;
  if ((url === undefined) === (client === undefined)) {
    throw configurationError("connection", "must have either a url or a client");
  }
  if (client === undefined) {
    return parseAddress(url);
  }
  if (typeof client !== "object" || client === null || typeof client.call !== "function") {
    throw configurationError("client", "must have a call method, as Redis and Cluster of ioredis do");
  }
  if (client.on !== undefined && typeof client.on !== "function") {
    throw configurationError("client", "must have an on method, or none");
  }
  return client;
}

function parseAddress(text: unknown): Address {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["redis:", "rediss:"].includes(url.protocol) || url.hostname === "") {
    throw configurationError("url", "must be redis://host or rediss://host, with a port if it is not 6379");
  }
  const database = /^\/?(\d{0,5})$/.exec(url.pathname)?.[1];
  if (database === undefined || url.search !== "" || url.hash !== "") {
    throw configurationError("url", "must have nothing behind the host but a database number; pass a client for more");
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? 6379 : Number(url.port),
    username: credential(url.username),
    password: credential(url.password),
    database: Number(database),
    isTls: url.protocol === "rediss:",
  };
}

function credential(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw configurationError("url", "must have its user name and password percent-encoded");
  }
}
