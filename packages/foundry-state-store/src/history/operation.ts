import { setMaxListeners } from "node:events";
import { isAgentFrameworkError, withDeadline } from "@agentfw/core";
import { PROVIDER, stateError } from "../errors.ts";
import { Progress } from "../progress.ts";

/** What an operation is. */
export interface Operation<T> {
  readonly name: string;
  readonly kind: "read" | "write";
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Gets a signal that ends its requests when nobody waits for them any more. */
  run(signal: AbortSignal, progress: Progress): Promise<T>;
}

/**
 * Runs an operation of several requests within one deadline. A write that has changed nothing ends as `timeout` or with
 * the abort; one that may have, as `outcome_unknown`.
 */
export async function runOperation<T>({ name, kind, timeoutMs, signal, run }: Operation<T>): Promise<T> {
  const progress = new Progress();
  const giveUp = new AbortController();
  // Many requests at once listen to it, and each of them stops listening.
  setMaxListeners(0, giveUp.signal);
  try {
    return await withDeadline(name, { kind, provider: PROVIDER, timeoutMs, signal }, () =>
      run(giveUp.signal, progress),
    );
  } catch (error) {
    if (kind === "read" || !progress.hasChanged) {
      const isLate = isAgentFrameworkError(error, "outcome_unknown");
      throw kind === "write" && isLate ? (error.cause ?? stateError("timeout", `${name}: not done in time`)) : error;
    }
    throw isAgentFrameworkError(error, "outcome_unknown") ? error : unfinished(name, error);
  } finally {
    progress.isGivenUp = true;
    giveUp.abort();
  }
}

function unfinished(name: string, cause: unknown): Error {
  return stateError("outcome_unknown", `${name}: failed after something was written`, { cause });
}
