import { AgentFrameworkError } from "@agentfw/core";

/** Named in every error of this package. */
export const PROVIDER = "history-blob";

/** A write whose answer was lost, and which could not be found out about. */
export function unknownOutcome(operation: string, reason: string, cause: unknown): AgentFrameworkError {
  return new AgentFrameworkError("outcome_unknown", `${operation}: ${reason}`, { provider: PROVIDER, cause });
}

/** Stored data that cannot be read. The text itself goes nowhere. */
export function corruptError(what: string, position: string): AgentFrameworkError {
  return new AgentFrameworkError("corrupt", `${what} (${position})`, { provider: PROVIDER, position });
}

/** Someone else came first, or what was named is not stored any more. */
export function conflictError(message: string, currentVersion: string): AgentFrameworkError {
  return new AgentFrameworkError("conflict", message, { provider: PROVIDER, currentVersion });
}

/** Something that this store does not offer, or a layout that this version does not know. */
export function unsupportedError(message: string): AgentFrameworkError {
  return new AgentFrameworkError("unsupported", message, { provider: PROVIDER });
}
