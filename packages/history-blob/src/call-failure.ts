import { isAgentFrameworkError } from "@agentfw/core";
import type { Call } from "./call.ts";
import { failure } from "./errors.ts";
import { toFrameworkError } from "./verdicts.ts";

/** What a call that ended with an error rejects with: the error depends on what was sent. `signal` is the caller's. */
export function explainFailure(error: unknown, call: Call, signal: AbortSignal | undefined): unknown {
  const isAbort = signal?.aborted === true && error === signal.reason;
  const isLate = isAgentFrameworkError(error, "timeout");
  if (call.isLost || ((isAbort || isLate) && call.isOpen)) {
    const reason = isAbort ? "aborted before the answer came" : "the answer was lost";
    const cause = isLate ? (call.problem ?? error) : error;
    return failure("outcome_unknown", `${call.name}: ${reason}`, { cause });
  }
  if (isAbort || isAgentFrameworkError(error)) {
    return isLate && call.problem !== undefined ? toFrameworkError(call.problem, call.name) : error;
  }
  return toFrameworkError(error, call.name);
}
