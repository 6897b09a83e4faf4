import { AgentFrameworkError, type ErrorCode, isAgentFrameworkError } from "@agentfw/core";

/** Named in every error of this package. */
export const PROVIDER = "__provider__";

/** What the driver's own error codes mean to a caller. Give every line a test. */
const MEANINGS: ReadonlyMap<string, ErrorCode> = new Map([
  ["ECONNREFUSED", "unavailable"],
  ["ENOTFOUND", "unavailable"],
  ["EACCES", "unauthorized"],
]);

/**
 * Turns what the driver threw into the error that callers see, with the driver's own as its `cause`. Errors of the
 * framework pass through. The message holds no stored text, owner, token or address: those belong in the `cause`.
 *
 * The reason of an abort is neither the driver's nor the framework's: throw it where this function does not see it.
 *
 * @param kind A write that ended in a way nobody knows is `outcome_unknown`; a read is `unavailable`. So is what failed
 * before a write was sent, or in a transaction that was rolled back: call it a read.
 */
export function toFrameworkError(error: unknown, operation: string, kind: "read" | "write"): AgentFrameworkError {
  if (isAgentFrameworkError(error)) {
    return error;
  }
  const driverCode = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  const code = MEANINGS.get(driverCode) ?? (kind === "write" ? "outcome_unknown" : "unavailable");
  return new AgentFrameworkError(code, `${operation} failed`, { provider: PROVIDER, cause: error });
}

/** What every method begins as. Take it away when nothing calls it any more. */
export async function notWritten(operation: string): Promise<never> {
  throw new AgentFrameworkError("unsupported", `${operation} is not written yet`, { provider: PROVIDER });
}
