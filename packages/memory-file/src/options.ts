import { resolve } from "node:path";
import { assertCount, assertTimeout, type DiagnosticHandler } from "@agentfw/core";
import { assertOptions, assertPath, assertWithin } from "@agentfw/core/backend";

/** Options of `FileSystemFileStore`. */
export interface FileSystemFileStoreOptions {
  /** Largest file in UTF-8 bytes, at most 67,108,864. Larger ones are neither written nor read. @default 1,048,576 */
  readonly maxFileBytes?: number | undefined;
  /** Most files in one directory, those below its directories not counted. @default 1,000 */
  readonly maxFiles?: number | undefined;
  /** Most bytes in the files of one directory together. @default 33,554,432 */
  readonly maxTotalBytes?: number | undefined;
  /** A write is acknowledged only when the disk has it, so it survives a power cut and not only a crash. @default true */
  readonly fsync?: boolean | undefined;
  /** Every call settles within this many milliseconds, waiting for other writers included. @default 5,000 */
  readonly timeoutMs?: number | undefined;
  /** Receives `file_skipped` and `lock_broken`. @default none */
  readonly onDiagnostic?: DiagnosticHandler | undefined;
}

/** The options with defaults in place. */
export interface Settings {
  /** Absolute. */
  readonly root: string;
  readonly maxFileBytes: number;
  readonly maxFiles: number;
  readonly maxTotalBytes: number;
  readonly fsync: boolean;
  readonly timeoutMs: number;
  readonly onDiagnostic: DiagnosticHandler | undefined;
}

const KNOWN: readonly string[] = ["maxFileBytes", "maxFiles", "maxTotalBytes", "fsync", "timeoutMs", "onDiagnostic"];
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/**
 * Checks the options and fills in defaults. Reads nothing from disk.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function resolveOptions(root: string, options: FileSystemFileStoreOptions): Settings {
  assertPath(root, "root");
  assertOptions(options, "options", KNOWN, { fsync: "boolean", onDiagnostic: "function" });
  const { maxFileBytes = 1024 * 1024, maxFiles = 1000, maxTotalBytes = 32 * 1024 * 1024 } = options;
  const { fsync = true, timeoutMs = 5000, onDiagnostic } = options;
  assertWithin(maxFileBytes, "maxFileBytes", 1, MAX_FILE_BYTES);
  assertCount(maxFiles, "maxFiles", 1);
  assertCount(maxTotalBytes, "maxTotalBytes", 1);
  assertTimeout(timeoutMs, "timeoutMs");
  return { root: resolve(root), maxFileBytes, maxFiles, maxTotalBytes, fsync, timeoutMs, onDiagnostic };
}
