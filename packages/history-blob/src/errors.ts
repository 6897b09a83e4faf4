import { AgentFrameworkError, type AgentFrameworkErrorOptions, type ErrorCode } from "@agentfw/core";

/** Named in every error of this package. */
export const PROVIDER = "history-blob";

/** An error of this package. */
export function failure(code: ErrorCode, message: string, details?: AgentFrameworkErrorOptions): AgentFrameworkError {
  return new AgentFrameworkError(code, message, { provider: PROVIDER, ...details });
}

/** Stored data that cannot be read. The text itself goes nowhere. */
export function corruptError(what: string, position: string): AgentFrameworkError {
  return failure("corrupt", `${what} (${position})`, { position });
}
