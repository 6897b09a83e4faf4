import { withDeadline } from "@agentfw/core";
import type { CallLimits, OnDemand } from "@agentfw/core/backend";
import type { Engine } from "./engine.ts";
import { PROVIDER } from "./errors.ts";

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

/** What a call does with the engine, when that is there. */
export type CallBody<T> = (engine: Engine, call: Call) => Promise<T>;

/**
 * Runs a call within its deadline, which counts while the engine is loaded too.
 *
 * @throws errors of the framework, or the reason of an abort before anything was sent.
 */
export async function runCall<T>(
  name: string,
  { timeoutMs, signal }: CallLimits,
  onDemand: OnDemand<Engine>,
  body: CallBody<T>,
): Promise<T> {
  const call = new Call(name, timeoutMs);
  // What a late write means is decided by the engine: the deadline cannot know what was sent.
  const deadline = { kind: "read", provider: PROVIDER, timeoutMs, signal } as const;
  try {
    return await withDeadline(name, deadline, () => onDemand.run(name, (engine) => body(engine, call)));
  } catch (error) {
    call.end();
    // Without the engine nothing was sent, and the error says all there is.
    throw onDemand.loaded === undefined ? error : onDemand.loaded.explain(error, call, signal);
  }
}
