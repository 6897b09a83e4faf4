import { AgentFrameworkError, type DeadlineOptions, isAgentFrameworkError, withDeadline } from "@agentfw/core";

/** How far a call of several steps is, and whether its caller still waits for it. */
export class Progress {
  /** True when something may have been written. Set it before a step that writes; take it back where it surely did not. */
  hasChanged = false;
  readonly #controller = new AbortController();

  /** Aborts when the caller was answered, so that requests which are under way end too. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops a call whose caller was answered already. What is thrown reaches nobody. */
  assertWanted(): void {
    if (this.signal.aborted) {
      throw new AgentFrameworkError("timeout", "the call was given up");
    }
  }

  /** The caller was answered. */
  end(): void {
    this.#controller.abort();
  }
}

/**
 * Runs a call of several steps within one deadline. What it means for a write to fail, or to be late, depends on what its
 * steps have done: while `hasChanged` is false it ends as `timeout`, with the abort, or with what a step threw, and nothing
 * was written; from then on as `outcome_unknown`.
 *
 * @throws as `withDeadline` does, but for a write `outcome_unknown` only where something may have been written
 */
export async function runWithProgress<Result>(
  name: string,
  options: DeadlineOptions,
  work: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  const progress = new Progress();
  const { provider } = options;
  try {
    return await withDeadline(name, options, () => work(progress));
  } catch (error) {
    const isUnknown = isAgentFrameworkError(error, "outcome_unknown");
    if (progress.hasChanged) {
      const message = `${name}: failed after something was written`;
      throw isUnknown ? error : new AgentFrameworkError("outcome_unknown", message, { provider, cause: error });
    }
    throw isUnknown
      ? (error.cause ?? new AgentFrameworkError("timeout", `${name}: not done in time`, { provider }))
      : error;
  } finally {
    progress.end();
  }
}
