import { AgentFrameworkError, type AgentFrameworkErrorOptions, type ErrorCode } from "@agentfw/core";
import { FileProblem } from "@agentfw/core/backend";
import { PROVIDER } from "./provider-name.ts";

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

/** A link, pipe or device where a directory or file of the store should be, as the system would report a link. */
export function refusedError(path: string): FileProblem {
  return new FileProblem("ELOOP", `neither a file nor a directory: ${path}`);
}
