import { assertCount, assertTimeout } from "@agentfw/core";
import { assertOptions, assertTtlSeconds, assertWithin } from "@agentfw/core/backend";
import { assertKeyPrefix, type RedisConnection } from "./address.ts";

/** Where the server is: an address that the store connects to itself, or a client that the caller keeps. */
export type RedisHistoryStoreConnection = RedisConnection;

/** Options of `RedisHistoryStore`. */
export interface RedisHistoryStoreOptions {
  /** Beginning of every key: 1 to 200 characters without spaces, control characters and braces. @default "agentfw" */
  readonly keyPrefix?: string | undefined;
  /** Idle life of a conversation, renewed by writes only: 0.001 to 3,153,600,000. @default forever */
  readonly ttlSeconds?: number | undefined;
  /**
   * Keeps only the newest records of a conversation, trimmed in the same step as the append; 0 keeps none.
   *
   * @default unlimited
   */
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
  readonly maxRecords: number | undefined;
  readonly maxRecordBytes: number;
  readonly timeoutMs: number;
}

const KNOWN: readonly string[] = ["keyPrefix", "ttlSeconds", "maxRecords", "maxRecordBytes", "timeoutMs"];
const MAX_RECORD_BYTES = 256 * 1024 * 1024;

/**
 * Checks the options and fills in defaults.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function resolveOptions(options: RedisHistoryStoreOptions): Settings {
  assertOptions(options, "options", KNOWN);
  const { keyPrefix = "agentfw", ttlSeconds, maxRecords, timeoutMs = 5_000 } = options;
  const { maxRecordBytes = 16 * 1024 * 1024 } = options;
  assertKeyPrefix(keyPrefix);
  assertTtlSeconds(ttlSeconds);
  if (maxRecords !== undefined) {
    assertCount(maxRecords, "maxRecords", 0);
  }
  assertWithin(maxRecordBytes, "maxRecordBytes", 1, MAX_RECORD_BYTES);
  assertTimeout(timeoutMs, "timeoutMs");
  return {
    keyPrefix,
    ttlMs: Math.ceil((ttlSeconds ?? 0) * 1_000),
    maxRecords,
    maxRecordBytes,
    timeoutMs,
  };
}
