import { assertTimeout } from "@agentfw/core";
import { assertTtlSeconds, assertWithin, withDefaults } from "@agentfw/core/backend";
import { assertSchemaName } from "./quoting.ts";

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
