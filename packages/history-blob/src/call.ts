import { isAgentFrameworkError } from "@agentfw/core";
import { failure } from "./errors.ts";
import { toFrameworkError, verdictOf } from "./verdicts.ts";

/** What is asked of a store, while it is being done. */
export class Call {
  /** Named in errors. */
  readonly name: string;
  /** Ends the requests of a call that was given up. */
  readonly #controller = new AbortController();
  /** What the last try ran into. */
  problem: unknown;
  /** True while a request is under way, or a step was made, after which the call may have had its effect. */
  isOpen = false;
  /** True when the answer to such a request was lost, and nothing has told since what became of it. */
  isLost = false;

  readonly #deadline: number;

  constructor(name: string, timeoutMs: number) {
    this.name = name;
    this.#deadline = performance.now() + timeoutMs;
  }

  /** How long somebody still waits for it. */
  get remainingMs(): number {
    return this.#deadline - performance.now();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits, unless the call is over. @throws when it is */
  async pause(milliseconds: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    this.signal.throwIfAborted();
  }

  /** Notes that a request failed. */
  note(error: unknown, isCommit: boolean): void {
    const verdict = verdictOf(error);
    // That others came first is no problem of the service: a call that ran out of time over it was late.
    this.problem = ["busy", "lost", "refused"].includes(verdict) ? error : undefined;
    // A driver with retries of its own may be told so of its second try, when the first one was carried out.
    this.isLost ||= isCommit && ["lost", "condition", "no-blob", "full"].includes(verdict);
  }

  /** It is known what became of everything that was sent. */
  settle(): void {
    this.isOpen = false;
    this.isLost = false;
  }

  /** Ends a call that failed, and tells what it rejects with: that depends on what was sent. `signal` is the caller's. */
  fail(error: unknown, signal: AbortSignal | undefined): unknown {
    this.#controller.abort();
    const isAbort = signal?.aborted === true && error === signal.reason;
    const isLate = isAgentFrameworkError(error, "timeout");
    const cause = isLate ? (this.problem ?? error) : error;
    if (this.isLost || ((isAbort || isLate) && this.isOpen)) {
      const reason = isAbort ? "aborted before the answer came" : "the answer was lost";
      return failure("outcome_unknown", `${this.name}: ${reason}`, { cause });
    }
    return isAbort ? error : toFrameworkError(cause, this.name);
  }
}

/** A random part of a time, at least half of it, so that many who wait do not come back together. */
export function jitter(milliseconds: number): number {
  return milliseconds * (0.5 + Math.random() / 2);
}
