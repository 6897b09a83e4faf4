import {
  AgentFrameworkError,
  type ContextProvider,
  isAgentFrameworkError,
  type Message,
  RunContext,
} from "@agentfw/core";
import { Run } from "@agentfw/core/run";
import { type ConflictAttempts, MAX_ATTEMPTS } from "./conflict-attempts.ts";
import { earlierAttempt } from "./earlier-attempt.ts";

/** What a run may do when its history fails it. */
export interface HistoryFailureOptions {
  /** Attempts after a conflict; `undefined` when a conflict ends the run. */
  readonly attempts: ConflictAttempts | undefined;
  /** What forbids another attempt, if anything does; `isAnswered` when it would call neither the model nor a tool. */
  obstacle(isAnswered: boolean): string | undefined;
  /** Whether the run goes on when its history cannot be reached. */
  readonly mayLackHistory: boolean;
  /** Whether the caller named the run, so that another process may have been asked the same. */
  readonly isNamed: boolean;
}

/** A call of the provider that stores something. */
type StoringHook = (context: RunContext) => Promise<void> | undefined;

/** The provider that loads the history of one run, and stores behind what it has loaded. */
export class PrimaryHistory {
  readonly provider: ContextProvider;
  readonly #run: Run;
  readonly #options: HistoryFailureOptions;
  #context: RunContext;
  #hasStored = false;
  #loss: AgentFrameworkError | undefined;
  /** What the next attempt would find, when the model was shown what is no longer the history. */
  #found: { readonly isAnswered: boolean } | undefined;

  constructor(run: Run, provider: ContextProvider, options: HistoryFailureOptions) {
    this.provider = provider;
    this.#run = run;
    this.#options = options;
    this.#context = new RunContext(run, provider);
  }

  /** Why there is no history, in a run that goes on without. */
  get loss(): AgentFrameworkError | undefined {
    return this.#loss;
  }

  /** True when the run is to be tried again, because the model was shown what is no longer the history. */
  get isToBeRepeated(): boolean {
    return this.#found !== undefined && this.#options.obstacle(this.#found.isAnswered) === undefined;
  }

  /** @throws what the provider throws, unless the run may go on without its history. */
  async load(): Promise<void> {
    const { contributions } = this.#run;
    const { length } = contributions;
    try {
      await this.provider.beforeRun?.(this.#context);
    } catch (error) {
      if (!this.#options.mayLackHistory || this.#run.options.signal?.aborted || !isOutage(error)) {
        throw error;
      }
      contributions.splice(length);
      this.#run.input = this.#run.options.input;
      this.#loss = error;
      await this.#endRun(this.#run, error);
      this.#report("history_not_loaded", "the run goes on without its history and is not stored", error);
    }
  }

  async persist(): Promise<void> {
    await this.#store((context) => this.provider.persist?.(context), false);
  }

  async after(): Promise<void> {
    await this.#store((context) => this.provider.afterRun?.(context), true);
  }

  /** Stores answers to requests, behind what else the run was told. @throws `conflict` when another run was first. */
  async claim(answers: readonly Message[]): Promise<void> {
    if (this.provider.claim === undefined) {
      return;
    }
    const { input } = this.#run;
    this.#run.input = input.filter((message) => !answers.includes(message));
    try {
      await this.provider.persist?.(this.#context);
    } finally {
      this.#run.input = input;
    }
    this.#hasStored = true;
    for (const answer of answers) {
      if (!(await this.provider.claim(this.#context, [answer]))) {
        throw new AgentFrameworkError("conflict", "another run has answered this approval");
      }
    }
  }

  /** `isLast` for the hook with which a run ends for the provider. */
  async #store(hook: StoringHook, isLast: boolean): Promise<void> {
    if (this.#loss !== undefined) {
      return;
    }
    try {
      copyOutcome(this.#run, this.#context.run);
      await hook(this.#context);
    } catch (error) {
      const { attempts } = this.#options;
      if (attempts === undefined || this.#run.error !== undefined || !isAgentFrameworkError(error, "conflict")) {
        throw error;
      }
      if (this.#hasStored) {
        throw notRepeated(error, "a part of it is stored");
      }
      await this.#storeAgain(hook, isLast, attempts, error);
    }
    this.#hasStored = true;
  }

  /** An answer holds for the history that it was given to: it is stored only where that is what is stored now. */
  async #storeAgain(
    hook: StoringHook,
    isLast: boolean,
    attempts: ConflictAttempts,
    first: AgentFrameworkError,
  ): Promise<void> {
    let conflict = first;
    while (await attempts.next()) {
      const fresh = await this.#reload(attempts);
      const isAnswered = this.#options.isNamed && earlierAttempt(fresh)?.isAtEnd === true;
      if (isAnswered || !isSameHistory(fresh, this.#run)) {
        await this.#endRun(fresh, conflict);
        throw this.#stale(conflict, isAnswered);
      }
      fresh.contributions.splice(0, Number.POSITIVE_INFINITY, ...this.#run.contributions);
      copyOutcome(this.#run, fresh);
      const before = this.#context.run;
      this.#context = new RunContext(fresh, this.provider);
      if (!isLast) {
        await this.#endRun(before, conflict);
      }
      try {
        await hook(this.#context);
        this.#report("turn_stored_again", "another process wrote, and the history that the run was shown is unchanged");
        return;
      } catch (error) {
        if (!isAgentFrameworkError(error, "conflict")) {
          throw error;
        }
        conflict = error;
      }
    }
    throw notRepeated(conflict, `it was tried ${MAX_ATTEMPTS} times`);
  }

  /** The history as it is now, for a run of its own: what the provider noted at the first load no longer holds. */
  async #reload(attempts: ConflictAttempts): Promise<Run> {
    const fresh = new Run(this.#run.options);
    try {
      await attempts.race(async () => this.provider.beforeRun?.(new RunContext(fresh, this.provider)));
    } catch (error) {
      await this.#endRun(fresh, error);
      throw error;
    }
    return fresh;
  }

  /**
   * The conflict of a run whose history has changed, marked for another attempt where there may be one. A message of
   * this run that is stored, and is no complete answer, is that of a process which may be at work: it is left alone.
   */
  #stale(conflict: AgentFrameworkError, isAnswered: boolean): AgentFrameworkError {
    if (!isAnswered && conflict.currentVersion === undefined) {
      return conflict;
    }
    this.#found = { isAnswered };
    const obstacle = this.#options.obstacle(isAnswered);
    if (obstacle !== undefined) {
      return notRepeated(conflict, obstacle);
    }
    this.#report("run_retried", "another process wrote first, and the run begins again on what it left", conflict);
    return conflict;
  }

  #report(type: string, message: string, cause?: unknown): void {
    this.#context.report({ type, message, cause });
  }

  /** Tells the provider that nothing more comes of a run. */
  async #endRun(run: Run, error: unknown): Promise<void> {
    const context = new RunContext(run, this.provider);
    const before = run.error;
    run.error = error;
    try {
      await this.provider.afterRun?.(context);
    } catch (cause) {
      this.#report("provider_failed", "the provider failed; the run's outcome stands", cause);
    } finally {
      run.error = before;
    }
  }
}

/** Nobody could be asked. What was read and is damaged, refused or misconfigured is no outage. */
function isOutage(error: unknown): error is AgentFrameworkError {
  return isAgentFrameworkError(error, "unavailable") || isAgentFrameworkError(error, "timeout");
}

function notRepeated(cause: AgentFrameworkError, why: string): AgentFrameworkError {
  const message = `the history has changed since it was loaded, and the run is not tried again: ${why}`;
  const { provider, currentVersion } = cause;
  return new AgentFrameworkError("conflict", message, { provider, currentVersion, cause });
}

function isSameHistory(left: Run, right: Run): boolean {
  return historyText(left) === historyText(right);
}

function historyText({ contributions }: Run): string {
  return JSON.stringify(contributions.filter(({ isHistory }) => isHistory).map(({ messages }) => messages));
}

function copyOutcome(from: Run, to: Run): void {
  if (from !== to) {
    to.input = from.input;
    to.produced = from.produced;
    to.partial = from.partial;
    to.response = from.response;
    to.error = from.error;
  }
}
