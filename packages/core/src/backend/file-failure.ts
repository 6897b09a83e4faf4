import type { ErrorCode } from "../errors.ts";
import { systemCode } from "./connection-failure.ts";

/** Why the file system refused. */
export interface FileFailure {
  readonly code: Extract<ErrorCode, "unavailable" | "unauthorized" | "configuration" | "too_large">;
  readonly reason: string;
}

const DENIED: FileFailure = { code: "unauthorized", reason: "permission denied" };
const NO_PLAIN_FILE: FileFailure = { code: "unauthorized", reason: "a link or a device stands where a file should be" };

const unavailable = (reason: string): FileFailure => ({ code: "unavailable", reason });

const FAILURES: ReadonlyMap<string, FileFailure> = new Map([
  ["EACCES", DENIED],
  ["EPERM", DENIED],
  ["EROFS", { code: "unauthorized", reason: "the file system is read-only" }],
  // How systems refuse to follow a link, and to open a socket or a pipe that nobody reads.
  ["ELOOP", NO_PLAIN_FILE],
  ["EMLINK", NO_PLAIN_FILE],
  ["ENXIO", NO_PLAIN_FILE],
  ["EFBIG", { code: "too_large", reason: "the file would grow above the limit of the system" }],
  ["ENAMETOOLONG", { code: "configuration", reason: "directory or path: too long for the file system" }],
  ["ENOSPC", unavailable("no space left on the device")],
  ["EDQUOT", unavailable("the disk quota is used up")],
  ["EMFILE", unavailable("the process has too many open files")],
  ["ENFILE", unavailable("the system has too many open files")],
  ["EIO", unavailable("the device reported an error")],
  ["ENOENT", unavailable("a directory of the store is gone")],
  ["ENOTDIR", unavailable("a file stands where a directory should be")],
  ["EISDIR", unavailable("a directory stands where a file should be")],
]);

/**
 * What an error of the file system means, by its `code`; undefined for everything else, Node's own argument errors
 * (`ERR_…`) included. A code that is not known is `unavailable`: the system refused, and whether it will again is not known.
 *
 * Where a missing file is an ordinary answer, tell it apart before: here ENOENT is a directory that went away.
 */
export function fileFailure(error: unknown): FileFailure | undefined {
  const code = systemCode(error);
  return code !== undefined && /^E[A-Z0-9]+$/.test(code)
    ? (FAILURES.get(code) ?? unavailable(`the file system answered ${code}`))
    : undefined;
}
