import { assertTimeout } from "@agentfw/core";
import { assertTtlSeconds, assertWithin, withDefaults } from "@agentfw/core/backend";
import { assertPartitions } from "./names.ts";
import { assertSchemaName } from "./quoting.ts";

/** Options of `PostgresHistoryStore`. */
export interface PostgresHistoryStoreOptions {
  /** The schema that holds the tables; any identifier of 1 to 63 UTF-8 bytes, taken as it is. @default "agentfw" */
  readonly schema?: string | undefined;
  /** Create what is missing at the first call. With `false` the first call fails where it is missing. @default true */
  readonly autoMigrate?: boolean | undefined;
  /** Hash partitions that the tables are created with, 2 to 256; without effect on tables that exist. @default none */
  readonly partitions?: number | undefined;
  /** Idle life of a conversation in seconds, renewed by writes only; 0.001 to 3,153,600,000 (100 years). @default forever */
  readonly ttlSeconds?: number | undefined;
  /** Largest record in UTF-8 bytes, 1 to 268,435,456. @default 16,777,216 */
  readonly maxRecordBytes?: number | undefined;
  /** Let the server keep the plans of statements by name. Not through every pooler. @default true */
  readonly prepare?: boolean | undefined;
  /** Every call settles within this many milliseconds, connecting included. @default 5,000 */
  readonly timeoutMs?: number | undefined;
}

/** The options with defaults in place. */
export interface Settings {
  readonly schema: string;
  readonly autoMigrate: boolean;
  readonly partitions: number | undefined;
  readonly ttlSeconds: number | undefined;
  readonly maxRecordBytes: number;
  readonly prepare: boolean;
  readonly timeoutMs: number;
}

const MAX_RECORD_BYTES = 256 * 1024 * 1024;

/**
 * Checks the options and fills in defaults.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function resolveOptions(options: PostgresHistoryStoreOptions): Settings {
  const settings = withDefaults<Settings>(options, "options", {
    schema: "agentfw",
    autoMigrate: true,
    partitions: undefined,
    ttlSeconds: undefined,
    maxRecordBytes: 16 * 1024 * 1024,
    prepare: true,
    timeoutMs: 5000,
  });
  assertSchemaName(settings.schema);
  assertPartitions(settings.partitions);
  assertWithin(settings.maxRecordBytes, "maxRecordBytes", 1, MAX_RECORD_BYTES);
  assertTtlSeconds(settings.ttlSeconds);
  assertTimeout(settings.timeoutMs, "timeoutMs");
  return settings;
}
