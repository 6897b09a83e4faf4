import { assertCount, assertTimeout, configurationError } from "@agentfw/core";
import type { RedisClient } from "./client.ts";

/** Where the server is: an address that the store connects to itself, or a client that stays the caller's. */
export type RedisConnectionOptions =
  | {
      /** `redis://` or `rediss://` (TLS), with user, password, port and database number as far as they are needed. */
      readonly url: string;
      readonly client?: undefined;
    }
  | {
      /** A `Redis` or `Cluster` of ioredis. The store never closes it. */
      readonly client: RedisClient;
      readonly url?: undefined;
    };

/** Options of `RedisHistoryStore`. */
export interface RedisHistoryStoreOptions {
  /** Begins every key; without braces, at most 200 characters. @default "agentfw" */
  readonly keyPrefix?: string | undefined;
  /** Idle life of a conversation in seconds, renewed by writes only; at most 100 years. @default forever */
  readonly ttlSeconds?: number | undefined;
  /** Keeps only the newest records of a conversation, trimmed in the same step as the append. @default unlimited */
  readonly maxRecords?: number | undefined;
  /** Largest record in UTF-8 bytes, 1 to 268,435,456. @default 16,777,216 */
  readonly maxRecordBytes?: number | undefined;
  /** Every call settles within this many milliseconds, connecting included. @default 5,000 */
  readonly timeoutMs?: number | undefined;
}

/** The options with defaults in place. */
export interface Settings {
  readonly keyPrefix: string;
  /** 0 is forever. */
  readonly ttlMs: number;
  /** 0 is unlimited. */
  readonly maxRecords: number;
  readonly maxRecordBytes: number;
  readonly timeoutMs: number;
}

/** A server's address, taken apart. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  readonly isTls: boolean;
}

const KNOWN: readonly string[] = ["keyPrefix", "ttlSeconds", "maxRecords", "maxRecordBytes", "timeoutMs"];
const MAX_RECORD_BYTES = 256 * 1024 * 1024;
const MAX_TTL_SECONDS = 100 * 366 * 24 * 60 * 60;
const MAX_PREFIX_LENGTH = 200;

/**
 * Checks the options and fills in defaults.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function resolveOptions(options: RedisHistoryStoreOptions): Settings {
  if (typeof options !== "object" || options === null) {
    throw configurationError("options", "must be an object");
  }
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) {
    throw configurationError(unknown, "is not an option of RedisHistoryStore");
  }
  const { keyPrefix = "agentfw", ttlSeconds, maxRecords, timeoutMs = 5000 } = options;
  const { maxRecordBytes = 16 * 1024 * 1024 } = options;
  assertKeyPrefix(keyPrefix);
  if (maxRecords !== undefined) {
    assertCount(maxRecords, "maxRecords", 1);
  }
  assertCount(maxRecordBytes, "maxRecordBytes", 1);
  if (maxRecordBytes > MAX_RECORD_BYTES) {
    throw configurationError("maxRecordBytes", "must be at most 268,435,456");
  }
  assertTimeout(timeoutMs, "timeoutMs");
  return { keyPrefix, ttlMs: ttlMs(ttlSeconds), maxRecords: maxRecords ?? 0, maxRecordBytes, timeoutMs };
}

/**
 * Checks that exactly one of `url` and `client` is there.
 *
 * @throws `configuration`, without the address in its message, because that may hold a password.
 */
export function resolveConnection(connection: RedisConnectionOptions): Address | RedisClient {
  if (typeof connection !== "object" || connection === null) {
    throw configurationError("connection", "must be an object with a url or a client");
  }
  const { url, client } = connection;
  if ((url === undefined) === (client === undefined)) {
    throw configurationError("connection", "must have either a url or a client");
  }
  if (client !== undefined) {
    if (typeof client !== "object" || client === null || typeof client.call !== "function") {
      throw configurationError("client", "must have a call method, as Redis and Cluster of ioredis do");
    }
    return client;
  }
  return parseAddress(url);
}

function parseAddress(text: unknown): Address {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "redis:" && url.protocol !== "rediss:") || url.hostname === "") {
    throw configurationError("url", "must be redis://host or rediss://host, with a port if it is not 6379");
  }
  if (url.search !== "" || url.hash !== "") {
    throw configurationError("url", "must not have a query or a fragment; pass a client to set more");
  }
  const database = /^\/?(\d{0,5})$/.exec(url.pathname)?.[1];
  if (database === undefined) {
    throw configurationError("url", "must have nothing but a database number as its path");
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

function credential(text: string): string | undefined {
  try {
    return text === "" ? undefined : decodeURIComponent(text);
  } catch {
    throw configurationError("url", "must have its user name and password percent-encoded");
  }
}

function assertKeyPrefix(value: unknown): asserts value is string {
  if (typeof value !== "string" || value === "" || value.length > MAX_PREFIX_LENGTH || !value.isWellFormed()) {
    throw configurationError("keyPrefix", `must be a text of 1 to ${MAX_PREFIX_LENGTH} characters`);
  }
  if (/[{}]/.test(value)) {
    throw configurationError("keyPrefix", "must not hold braces: they decide where a cluster keeps a key");
  }
}

function ttlMs(ttlSeconds: unknown): number {
  if (ttlSeconds === undefined) {
    return 0;
  }
  if (typeof ttlSeconds !== "number" || !(ttlSeconds > 0) || ttlSeconds > MAX_TTL_SECONDS) {
    throw configurationError("ttlSeconds", `must be a number above 0 and at most ${MAX_TTL_SECONDS}`);
  }
  return Math.ceil(ttlSeconds * 1000);
}
