import { isAgentFrameworkError, withDeadline } from "@agentfw/core";
import { PROVIDER, storeError, toFrameworkError } from "./errors.ts";

/** How far a call is, and whether its caller still waits for it. */
export class Progress {
  #hasChanged = false;
  isGivenUp = false;

  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** Call right before the change that decides. Throws when the call was given up. */
  beforeChange(): void {
    this.assertWanted();
    this.#hasChanged = true;
  }

  /** Stops a call whose caller was answered already. What is thrown reaches nobody. */
  assertWanted(): void {
    if (this.isGivenUp) {
      throw storeError("timeout", "the call was given up");
    }
  }
}

/** One change to the files. */
export interface Change<T> {
  readonly operation: string;
  readonly signal: AbortSignal | undefined;
  work(progress: Progress): Promise<T>;
}

/**
 * Runs changes, each within the deadline. Until it changes something a call ends as `timeout` or with the abort; from
 * then on as `outcome_unknown`.
 */
export class Changes {
  readonly #timeoutMs: number;
  readonly #running = new Set<Promise<unknown>>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  async run<T>({ operation, signal, work }: Change<T>): Promise<T> {
    const progress = new Progress();
    try {
      const deadline = { kind: "write", provider: PROVIDER, timeoutMs: this.#timeoutMs, signal } as const;
      return await withDeadline(operation, deadline, () => this.#track(work(progress)));
    } catch (error) {
      // Whatever still runs stops at its next step, unless it was changing the file already.
      progress.isGivenUp = true;
      throw progress.hasChanged ? toFrameworkError(error, operation) : this.#unchanged(error, operation);
    }
  }

  /** Resolves when everything under way has ended, also what nobody waits for any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    const forget = () => this.#running.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** The outcome of a write that changed nothing is known, so it is never `outcome_unknown`. */
  #unchanged(error: unknown, operation: string): unknown {
    if (!isAgentFrameworkError(error, "outcome_unknown")) {
      return toFrameworkError(error, operation);
    }
    return error.cause ?? storeError("timeout", `${operation}: not done within ${this.#timeoutMs} ms`);
  }
}
