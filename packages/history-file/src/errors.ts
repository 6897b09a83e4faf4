import {
  AgentFrameworkError,
  type AgentFrameworkErrorOptions,
  type ErrorCode,
  isAbortError,
  isAgentFrameworkError,
} from "@agentfw/core";
import { systemCode } from "@agentfw/core/backend";
import { PROVIDER } from "./provider-name.ts";

/**
 * What the system's errors mean to a caller. A code that is not here is `unavailable`: the file system refused, and
 * whether it will again is not known. ENOENT is not here on purpose: what a missing file means is decided where it is
 * opened, and an ENOENT that gets this far is a directory that went away.
 */
const CODES: Readonly<Record<string, ErrorCode>> = {
  EACCES: "unauthorized",
  EPERM: "unauthorized",
  EROFS: "unauthorized",
  // The last component is a link. Links are refused, wherever they lead.
  ELOOP: "unauthorized",
  EMLINK: "unauthorized",
  EFBIG: "too_large",
  ENAMETOOLONG: "configuration",
};

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ELOOP: "a link stands where a file or directory of the store should be",
  EFBIG: "the file would grow above the limit of the system",
  ENAMETOOLONG: "directory: the path is too long for the file system",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  EMFILE: "the process has too many open files",
  ENFILE: "the system has too many open files",
  EIO: "the device reported an error",
  ENOTDIR: "a file stands where a directory of the store should be",
  EISDIR: "a directory stands where a file of the store should be",
  ENOENT: "a directory of the store is gone",
};

/**
 * Turns what the file system threw into the error that callers see; the system's own error is the `cause`. Errors of
 * the framework, the AbortError and programming errors pass through as they are.
 */
export function toFrameworkError(error: unknown, operation: string): unknown {
  if (isAgentFrameworkError(error) || isAbortError(error)) {
    return error;
  }
  const code = systemCode(error);
  // Node's own argument errors look like ERR_INVALID_ARG_TYPE; they are faults of this package, not of a disk.
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) {
    return error;
  }
  const reason = REASONS[code] ?? `the file system answered ${code}`;
  return storeError(CODES[code] ?? "unavailable", `${operation}: ${reason}`, { cause: error });
}

/** An error of this package. */
export function storeError(
  code: ErrorCode,
  message: string,
  details: Omit<AgentFrameworkErrorOptions, "provider"> = {},
): AgentFrameworkError {
  return new AgentFrameworkError(code, message, { provider: PROVIDER, ...details });
}

/** Stored bytes that cannot be read. `file` goes to the cause only: its path may name an owner. */
export function corruptError(what: string, position: string, file?: string): AgentFrameworkError {
  const cause = file === undefined ? undefined : new FileProblem("corrupt", `in ${file}`);
  return storeError("corrupt", `${what} (${position})`, { position, cause });
}

/** Someone else came first, or what was named is not stored any more. */
export function conflictError(message: string, currentVersion?: string): AgentFrameworkError {
  return storeError("conflict", message, { currentVersion });
}

/** What this package notices about a file itself, in the shape of a system error; callers see it as a `cause`. */
export class FileProblem extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "FileProblem";
    this.code = code;
  }
}

/** A link, pipe or device where a directory or file of the store should be, as the system would report a link. */
export function refusedError(path: string): FileProblem {
  return new FileProblem("ELOOP", `neither a file nor a directory: ${path}`);
}
