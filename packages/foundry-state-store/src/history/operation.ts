import { setMaxListeners } from "node:events";
import { isAgentFrameworkError, withDeadline } from "@agentfw/core";
import { PROVIDER, stateError } from "../errors.ts";

/** How far a write is, and whether its caller still waits for it. */
export class Progress {
  /** True when something may have been written. */
  hasChanged = false;
  isGivenUp = false;

  /** Stops a call whose caller was answered already. What is thrown reaches nobody. */
  assertWanted(): void {
    if (this.isGivenUp) {
      throw stateError("timeout", "the call was given up");
    }
  }
}

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
