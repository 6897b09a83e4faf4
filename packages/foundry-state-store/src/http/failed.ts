import type { AgentFrameworkError, ErrorCode } from "@agentfw/core";
import { stateError } from "../errors.ts";

/** The error of an operation that was asked of the service. A write that may have been carried out is `outcome_unknown`. */
export function failed(operation: string, code: ErrorCode, reason: string, cause: unknown): AgentFrameworkError {
  return stateError(code, `${operation}: ${reason}`, { cause });
}
