import { isAgentFrameworkError, withDeadline } from "@agentfw/core";
import { PROVIDER, toFrameworkError, unknownOutcome } from "./errors.ts";

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

  /** Nobody waits for it any more. */
  end(): void {
    this.#controller.abort();
  }

  /** Waits, unless the call is over. @throws when it is */
  async pause(milliseconds: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    this.signal.throwIfAborted();
  }

  /** It is known what became of everything that was sent. */
  settle(): void {
    this.isOpen = false;
    this.isLost = false;
  }
}

/** How a call is limited. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Runs a call within its deadline.
 *
 * @throws errors of the framework, or the reason of an abort before anything was sent.
 */
export async function runCall<T>(name: string, limits: CallLimits, body: (call: Call) => Promise<T>): Promise<T> {
  const { timeoutMs, signal } = limits;
  const call = new Call(name, timeoutMs);
  // What a late write means is decided below: the deadline cannot know what was sent.
  const deadline = { kind: "read", provider: PROVIDER, timeoutMs, signal } as const;
  try {
    return await withDeadline(name, deadline, () => body(call));
  } catch (error) {
    call.end();
    throw explain(error, call, signal);
  }
}

function explain(error: unknown, call: Call, signal: AbortSignal | undefined): unknown {
  const isAbort = signal?.aborted === true && error === signal.reason;
  const isLate = isAgentFrameworkError(error, "timeout");
  if (call.isLost || ((isAbort || isLate) && call.isOpen)) {
    const reason = isAbort ? "aborted before the answer came" : "the answer was lost";
    return unknownOutcome(call.name, reason, isLate ? (call.problem ?? error) : error);
  }
  if (isAbort || isAgentFrameworkError(error)) {
    return isLate && call.problem !== undefined ? toFrameworkError(call.problem, call.name) : error;
  }
  return toFrameworkError(error, call.name);
}
