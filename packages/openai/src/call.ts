import { AgentFrameworkError } from "@agentfw/core";
import { PROVIDER, toOpenAIError } from "./errors.ts";

/**
 * One request to the service, from its start to the last piece of its answer. It ends early when the caller aborts,
 * when its reader stops, or when the service is silent for longer than `timeoutMs`; whatever waits for the service is
 * then rejected at once, and the request is cancelled.
 *
 * Only one thing waits at a time: pieces are read one after the other.
 */
export class Call {
  readonly #controller = new AbortController();
  readonly #operation: string;
  readonly #timeoutMs: number;
  readonly #callerSignal: AbortSignal | undefined;
  #end: { readonly reason: unknown } | undefined;
  #rejectWaiting: ((reason: unknown) => void) | undefined;

  constructor(operation: string, timeoutMs: number, callerSignal: AbortSignal | undefined) {
    this.#operation = operation;
    this.#timeoutMs = timeoutMs;
    this.#callerSignal = callerSignal;
    if (callerSignal?.aborted) {
      this.#onAbort();
    } else {
      callerSignal?.addEventListener("abort", this.#onAbort, { once: true });
    }
  }

  /** Goes to the driver: aborted as soon as the call has ended, however it did. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Waits for one step of the driver.
   *
   * @throws the reason of the end when the call ends first, `timeout` after the silence, and the driver's own error as
   * one of ours.
   */
  async wait<T>(step: () => PromiseLike<T>): Promise<T> {
    this.#throwIfEnded();
    const silence = setTimeout(() => this.end(this.#silenceError()), this.#timeoutMs);
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#rejectWaiting = reject;
        Promise.resolve(step()).then(resolve, reject);
      });
    } catch (error) {
      this.#throwIfEnded();
      throw toOpenAIError(error, this.#operation);
    } finally {
      clearTimeout(silence);
      this.#rejectWaiting = undefined;
    }
  }

  /** Ends the call early. The first reason stays. */
  end(reason: unknown): void {
    this.#end ??= { reason };
    this.#rejectWaiting?.(this.#end.reason);
    this.release();
  }

  /** Cancels what is still open and lets go of the caller's signal. Safe to repeat. */
  release(): void {
    this.#callerSignal?.removeEventListener("abort", this.#onAbort);
    this.#controller.abort();
  }

  readonly #onAbort = (): void => this.end(this.#callerSignal?.reason);

  #throwIfEnded(): void {
    if (this.#end !== undefined) {
      throw this.#end.reason;
    }
  }

  #silenceError(): AgentFrameworkError {
    const message = `${this.#operation} failed: nothing came from the service for ${this.#timeoutMs} ms`;
    return new AgentFrameworkError("timeout", message, { provider: PROVIDER });
  }
}
