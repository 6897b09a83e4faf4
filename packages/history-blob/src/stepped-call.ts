import { AgentFrameworkError, type ErrorCode, isAgentFrameworkError, withDeadline } from "@agentfw/core";
import type { CallLimits } from "@agentfw/core/backend";

/** What an error of a driver means, to a caller and to the call that ran into it. */
export interface StepFailure {
  /** For callers, of a request that was not carried out or does not write. */
  readonly code: ErrorCode;
  readonly reason: string;
  /** With `corrupt`: where. */
  readonly position?: string | undefined;
  /**
   * What became of the request.
   *
   * - `refused`: nothing was done, and the next try would be told the same.
   * - `unmet`: nothing was done, because something else is stored than the request was for. After a lost answer, or where the
   *   driver tries again by itself, that may be what the request itself has stored.
   * - `busy`: nothing was done; it is tried again.
   * - `lost`: it may have been carried out; it is tried again.
   */
  readonly fate: "refused" | "unmet" | "busy" | "lost";
  /** How long the service asks to be left alone, in milliseconds. @default 0 */
  readonly retryAfterMs?: number | undefined;
}

/** Who makes a call, and how its driver's errors are read. */
export interface SteppedCallOptions extends CallLimits {
  /** Named in errors. */
  readonly provider: string;
  /** Not asked about errors of the framework, which are told as they are and count as `refused`. */
  readonly failureOf: (error: unknown) => StepFailure;
}

const MOST_TRIES = 4;
const FIRST_PAUSE_MS = 40;

/**
 * A call of several requests, of which one decides: a store on objects under conditions, for example. It knows what was sent and not
 * answered, and so what its failure means.
 */
export class SteppedCall {
  readonly #name: string;
  readonly #options: SteppedCallOptions;
  readonly #endsAt: number;
  readonly #controller = new AbortController();
  /** What the last try of a request ran into. */
  #problem: unknown;
  /** True while the request that decides is under way. */
  #isOpen = false;
  /** True when the answer to such a request was lost, and nothing has told since what became of it. */
  #isLost = false;
  #isDone = false;

  /** @param name Named in errors. */
  constructor(name: string, options: SteppedCallOptions) {
    this.#name = name;
    this.#options = options;
    this.#endsAt = performance.now() + options.timeoutMs;
  }

  /** Aborts when the caller was answered, so that requests which are under way end too. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Waits for a random part of a time, at least half of it and at least `leastMs`: many who wait must not come back together.
   *
   * @throws when the call is over
   */
  async pause(milliseconds: number, leastMs = 0): Promise<void> {
    const pauseMs = Math.max(leastMs, milliseconds * (0.5 + Math.random() / 2));
    await new Promise<void>((resolve) => setTimeout(resolve, pauseMs));
    this.signal.throwIfAborted();
  }

  /**
   * Sends a request, up to four times where that may help and there is time.
   *
   * @param decides True for a request that makes the call's change. It must be one that is carried out once, however often it
   * is sent: under a condition.
   * @throws what the last try ran into, as the driver threw it
   */
  async send<Answer>(request: () => Promise<Answer>, decides = false): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      this.signal.throwIfAborted();
      const wasOpen = this.#isOpen;
      try {
        this.#isOpen ||= decides;
        const answer = await request();
        this.#problem = undefined;
        return answer;
      } catch (error) {
        if (this.signal.aborted) {
          throw error;
        }
        this.#isOpen = wasOpen;
        await this.#recover(error, decides, tries);
      }
    }
  }

  /** It is known what became of everything that was sent: that the call failed later says nothing about it. */
  settle(): void {
    this.#isOpen = false;
    this.#isLost = false;
  }

  /** The change is made, and seen by others, although something has still to follow it. */
  done(): void {
    this.#isDone = true;
  }

  /** Ends the call, and gives what it rejects with. */
  fail(error: unknown): unknown {
    this.#controller.abort();
    const { provider, signal } = this.#options;
    const isAbort = signal?.aborted === true && error === signal.reason;
    const isLate = isAgentFrameworkError(error, "timeout");
    const cause = isLate ? (this.#problem ?? error) : error;
    const isUncertain =
      isAbort || isLate ? this.#isOpen || this.#isDone : this.#isDone && this.#fateOf(error) !== "refused";
    if (this.#isLost || isUncertain) {
      const reason = isAbort ? "aborted before the answer came" : "the answer was lost";
      return new AgentFrameworkError("outcome_unknown", `${this.#name}: ${reason}`, { provider, cause });
    }
    if (isAbort || isAgentFrameworkError(cause)) {
      return cause;
    }
    const { code, reason, position } = this.#options.failureOf(cause);
    return new AgentFrameworkError(code, `${this.#name}: ${reason}`, { provider, cause, position });
  }

  /** Waits until a request may be sent again. @throws the error where that does not help */
  async #recover(error: unknown, decides: boolean, tries: number): Promise<void> {
    const fate = this.#fateOf(error);
    // That others came first is no problem of the service: a call that runs out of time over it was late.
    this.#problem = fate === "unmet" ? undefined : error;
    this.#isLost ||= decides && (fate === "lost" || fate === "unmet");
    if (fate === "refused" || fate === "unmet" || tries === MOST_TRIES) {
      throw error;
    }
    const pauseMs = FIRST_PAUSE_MS * 3 ** (tries - 1);
    const { retryAfterMs = 0 } = this.#options.failureOf(error);
    if (performance.now() + Math.max(pauseMs, retryAfterMs) >= this.#endsAt) {
      throw error;
    }
    await this.pause(pauseMs, retryAfterMs);
  }

  #fateOf(error: unknown): StepFailure["fate"] {
    return isAgentFrameworkError(error) ? "refused" : this.#options.failureOf(error).fate;
  }
}

/**
 * Runs a call of several requests within its deadline.
 *
 * @throws what the requests ran into, as `failureOf` tells it, `timeout` or the abort reason: nothing was changed;
 * `outcome_unknown` where a request that decides was sent and it could not be found out about
 */
export async function runSteps<Result>(
  name: string,
  options: SteppedCallOptions,
  body: (call: SteppedCall) => Promise<Result>,
): Promise<Result> {
  const { provider, timeoutMs, signal } = options;
  const call = new SteppedCall(name, options);
  try {
    // What a late write means is decided by the call: the deadline cannot know what was sent.
    return await withDeadline(name, { kind: "read", provider, timeoutMs, signal }, () => body(call));
  } catch (error) {
    throw call.fail(error);
  }
}
