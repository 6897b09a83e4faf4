import { assertCount, assertName, assertObject, assertTimeout, configurationError } from "@agentfw/core";
import { assertOptions, assertTtlSeconds } from "@agentfw/core/backend";
import type { Client } from "@libsql/client";

/** Options of `SqliteHistoryStore`. One of `path` and `client` is needed. */
export interface SqliteHistoryStoreOptions {
  /** The database file. Made by the first call when there is none; its folder must exist. */
  readonly path?: string | undefined;
  /** A client of a local file, which stays open when the store is closed. */
  readonly client?: Client | undefined;
  /** A call waits this long for other writers, then it is `unavailable`. @default 5,000 */
  readonly timeoutMs?: number | undefined;
  /** Idle life of a conversation, renewed by writes. @default forever */
  readonly ttlSeconds?: number | undefined;
  /** A conversation keeps its newest records, this many; 0 keeps none. @default all */
  readonly maxRecords?: number | undefined;
  /** Largest record in UTF-8 bytes. @default 1,048,576 */
  readonly maxRecordBytes?: number | undefined;
  /** Milliseconds since the epoch, for expiry and `updatedAt`; never for order. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** The options with defaults in place. */
export interface Settings {
  readonly path: string | undefined;
  readonly client: Client | undefined;
  readonly timeoutMs: number;
  readonly ttlSeconds: number | undefined;
  readonly maxRecords: number | undefined;
  readonly maxRecordBytes: number;
  readonly now: () => number;
}

const KNOWN: readonly string[] = ["path", "client", "timeoutMs", "ttlSeconds", "maxRecords", "maxRecordBytes", "now"];

/**
 * Checks the options and fills in defaults. An option that is not known is refused: whoever sets it relies on it.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function resolveOptions(options: SqliteHistoryStoreOptions): Settings {
  assertOptions(options, "options", KNOWN, { now: "function" });
  const {
    path,
    client,
    timeoutMs = 5_000,
    ttlSeconds,
    maxRecords,
    maxRecordBytes = 1_048_576,
    now = Date.now,
  } = options;
  if ((path === undefined) === (client === undefined)) {
    throw configurationError("path", "must be given, or else client, and not both");
  }
  if (path !== undefined) {
    assertName(path, "path");
    if (path.includes("\0") || path.includes(":memory:")) {
      throw configurationError("path", "must name a file; for a store in memory there is InMemoryHistoryStore");
    }
  }
  if (client !== undefined) {
    assertObject(client, "client", { execute: "function", transaction: "function" });
    if (client.protocol !== "file") {
      throw configurationError("client", "must be one of a local file");
    }
  }
  assertTimeout(timeoutMs, "timeoutMs");
  assertTtlSeconds(ttlSeconds);
  if (maxRecords !== undefined) {
    assertCount(maxRecords, "maxRecords", 0);
  }
  assertCount(maxRecordBytes, "maxRecordBytes", 1);
  return { path, client, timeoutMs, ttlSeconds, maxRecords, maxRecordBytes, now };
}
