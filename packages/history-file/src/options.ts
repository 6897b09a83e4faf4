import { resolve } from "node:path";
import { AgentFrameworkError, assertCount, assertTimeout, type DiagnosticHandler } from "@agentfw/core";
import { assertOptions, assertPath, assertWithin } from "@agentfw/core/backend";
import { PROVIDER } from "./provider-name.ts";

/** Options of `FileHistoryStore`. */
export interface FileHistoryStoreOptions {
  /** Where the files are; made at the first write. On a local disk: network file systems are not supported. */
  readonly directory: string;
  /** A write is acknowledged only when the disk has it, so it survives a power cut and not only a crash. @default true */
  readonly fsync?: boolean | undefined;
  /** Largest record in UTF-8 bytes, 1 to 268,435,456. @default 16,777,216 */
  readonly maxRecordBytes?: number | undefined;
  /** How many of the newest record ids are remembered to skip repeated ones, 1,000 or more. @default 1,000 */
  readonly dedupeWindow?: number | undefined;
  /** Every call settles within this many milliseconds, waiting for other writers included. @default 5,000 */
  readonly timeoutMs?: number | undefined;
  /** Receives `torn_tail_cut` and `lock_broken`. @default none */
  readonly onDiagnostic?: DiagnosticHandler | undefined;
}

/** The options with defaults in place. */
export interface Settings {
  /** Absolute. */
  readonly root: string;
  readonly fsync: boolean;
  readonly maxRecordBytes: number;
  readonly dedupeWindow: number;
  readonly timeoutMs: number;
  readonly onDiagnostic: DiagnosticHandler | undefined;
}

const KNOWN: readonly string[] = ["directory", "fsync", "maxRecordBytes", "dedupeWindow", "timeoutMs", "onDiagnostic"];
const NOT_OFFERED: readonly string[] = ["maxRecords", "ttlSeconds"];
const MAX_RECORD_BYTES = 256 * 1024 * 1024;

/**
 * Checks the options and fills in defaults. Reads nothing from disk.
 *
 * @throws `configuration` naming the option and the rule; `unsupported` for expiry and trimming, which other backends
 * have and this one does not.
 */
export function resolveOptions(options: FileHistoryStoreOptions): Settings {
  for (const name of NOT_OFFERED) {
    if (Object(options)[name] !== undefined) {
      const message = `${name}: files neither expire nor are trimmed`;
      throw new AgentFrameworkError("unsupported", message, { provider: PROVIDER });
    }
  }
  assertOptions(options, "options", KNOWN, { fsync: "boolean", onDiagnostic: "function" });
  const { directory, fsync = true, maxRecordBytes = 16 * 1024 * 1024, dedupeWindow = 1000 } = options;
  const { timeoutMs = 5000, onDiagnostic } = options;
  assertPath(directory, "directory");
  assertWithin(maxRecordBytes, "maxRecordBytes", 1, MAX_RECORD_BYTES);
  assertCount(dedupeWindow, "dedupeWindow", 1000);
  assertTimeout(timeoutMs, "timeoutMs");
  return { root: resolve(directory), fsync, maxRecordBytes, dedupeWindow, timeoutMs, onDiagnostic };
}
