import { AgentFrameworkError, type ErrorCode, isAgentFrameworkError } from "@agentfw/core";
import { systemCode } from "@agentfw/core/backend";

/** Named in every error of this package. */
export const PROVIDER = "history-sqlite";

/** What the driver's own error codes mean to a caller. Everything here is said before anything is committed. */
const MEANINGS: ReadonlyMap<string, ErrorCode> = new Map([
  ["SQLITE_BUSY", "unavailable"],
  ["SQLITE_LOCKED", "unavailable"],
  ["SQLITE_PROTOCOL", "unavailable"],
  ["SQLITE_CANTOPEN", "unavailable"],
  ["SQLITE_FULL", "unavailable"],
  ["SQLITE_NOMEM", "unavailable"],
  ["TRANSACTION_ACTIVE", "unavailable"],
  ["TRANSACTION_CLOSED", "unavailable"],
  ["CLIENT_CLOSED", "unavailable"],
  ["SQLITE_READONLY", "unauthorized"],
  ["SQLITE_PERM", "unauthorized"],
  ["SQLITE_AUTH", "unauthorized"],
  ["SQLITE_NOTADB", "configuration"],
  ["SQLITE_ERROR", "configuration"],
  ["SQLITE_CONSTRAINT", "configuration"],
  ["SQLITE_CORRUPT", "corrupt"],
]);

/**
 * Turns what the driver threw into the error that callers see, with the driver's own as its `cause`. Errors of the
 * framework pass through. The message holds no stored text, owner, token or address: those belong in the `cause`.
 *
 * @param kind A write that ended in a way nobody knows is `outcome_unknown`; a read is `unavailable`.
 */
export function toFrameworkError(error: unknown, operation: string, kind: "read" | "write"): AgentFrameworkError {
  if (isAgentFrameworkError(error)) {
    return error;
  }
  const code = MEANINGS.get(systemCode(error) ?? "") ?? (kind === "write" ? "outcome_unknown" : "unavailable");
  const position = code === "corrupt" ? "the database file" : undefined;
  return new AgentFrameworkError(code, `${operation} failed`, { provider: PROVIDER, cause: error, position });
}

/** True when somebody else is writing: nothing was done, and trying again will do. */
export function isBusy(error: unknown): boolean {
  return ["SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"].includes(systemCode(error) ?? "");
}
