import { assertTimeout } from "@agentfw/core";
import { assertOptions, assertTtlSeconds, assertWithin } from "@agentfw/core/backend";
import { assertKeyPrefix, type RedisConnection } from "./address.ts";

/** Where the server is: an address that the store connects to itself, or a client that the caller keeps. */
export type RedisStateStoreConnection = RedisConnection;

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
  assertKeyPrefix(keyPrefix);
  assertTtlSeconds(ttlSeconds);
  assertWithin(maxValueBytes, "maxValueBytes", 1, MAX_VALUE_BYTES);
  assertTimeout(timeoutMs, "timeoutMs");
  return { keyPrefix, ttlMs: Math.ceil((ttlSeconds ?? 0) * 1_000), maxValueBytes, timeoutMs };
}
