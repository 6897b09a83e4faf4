import { AgentFrameworkError, type ErrorCode, isAgentFrameworkError } from "@agentfw/core";
import { connectionFailure, systemCode } from "@agentfw/core/backend";

/** Named in every error of this package. */
export const PROVIDER = "__provider__";

/**
 * What the driver's own error codes mean to a caller; connections are core's. Each line has a test in test/errors.test.ts,
 * which fails when one is added or taken away without it.
 */
export const MEANINGS: ReadonlyMap<string, ErrorCode> = new Map([["EACCES", "unauthorized"]]);

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
  const { code, reason } = connectionFailure(error) ?? {
    code: MEANINGS.get(systemCode(error) ?? "") ?? (kind === "write" ? "outcome_unknown" : "unavailable"),
    reason: "the driver failed",
  };
  return new AgentFrameworkError(code, `${operation}: ${reason}`, { provider: PROVIDER, cause: error });
}

/** What every method begins as. Take it away when nothing calls it any more. */
export async function notWritten(operation: string): Promise<never> {
  throw new AgentFrameworkError("unsupported", `${operation} is not written yet`, { provider: PROVIDER });
}
