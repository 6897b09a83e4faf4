import { AgentFrameworkError, isAgentFrameworkError, withDeadline } from "@agentfw/core";
import { PROVIDER, storeError, toFrameworkError } from "./errors.ts";

/** How far a call is, and whether its caller still waits for it. */
export class Progress {
  #hasChanged = false;
  #isDone = false;
  isGivenUp = false;

  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** True when the change was made: whatever fails now, others see it. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Call right before the change that decides. Throws when the call was given up. */
  beforeChange(): void {
    this.assertWanted();
    this.#hasChanged = true;
  }

  /** Call right after it. */
  afterChange(): void {
    this.#isDone = true;
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
 * then on as `outcome_unknown`, and so does what fails after the change.
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
      throw progress.isDone
        ? doneAllTheSame(error, operation)
        : progress.hasChanged
          ? toFrameworkError(error, operation)
          : this.#unchanged(error, operation);
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

/** The change was made, but whether it is there after a power cut is not known, or a lock is left. */
function doneAllTheSame(cause: unknown, operation: string): AgentFrameworkError {
  if (isAgentFrameworkError(cause, "outcome_unknown")) {
    return cause;
  }
  const message = `${operation}: the change was made, but what has to follow it failed`;
  return new AgentFrameworkError("outcome_unknown", message, { provider: PROVIDER, cause });
}
