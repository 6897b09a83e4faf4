import { AgentFrameworkError, type AgentFrameworkErrorOptions, type ErrorCode } from "@agentfw/core";
import { PROVIDER } from "./provider-name.ts";

/** An error of this package. */
export function storeError(
  code: ErrorCode,
  message: string,
  details: Omit<AgentFrameworkErrorOptions, "provider"> = {},
): AgentFrameworkError {
  return new AgentFrameworkError(code, message, { provider: PROVIDER, ...details });
}

/** What this package notices about a file itself, in the shape of a system error; callers see it as a `cause`. */
export function fileProblem(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** A link, pipe or device where a directory or file of the store should be, as the system would report a link. */
export function refusedError(name: string): Error {
  return fileProblem("ELOOP", `neither a plain file nor a directory: ${name}`);
}
