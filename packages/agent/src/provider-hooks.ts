import {
  AgentFrameworkError,
  type ContextProvider,
  isAgentFrameworkError,
  type Message,
  type Run,
  RunContext,
} from "@agentfw/core";
import { type HistoryFailureOptions, PrimaryHistory } from "./primary-history.ts";
import type { AgentResponse } from "./response.ts";

/** Calls the providers of one run, in their order and each protected from the others' failures. */
export class ProviderHooks {
  readonly #run: Run;
  readonly #contexts: readonly { readonly provider: ContextProvider; readonly context: RunContext }[];
  readonly #begun = new Set<ContextProvider>();
  /** What providers other than the loading one are storing during the run; one that failed waits for the end. */
  readonly #aside = new Map<ContextProvider, { readonly done: Promise<void>; isBehind: boolean }>();

  readonly #primary: PrimaryHistory | undefined;
  readonly #signal: AbortSignal | undefined;
  /** What the loading provider threw when it was to store a step of the run. */
  #storeFailure: unknown;

  constructor(run: Run, providers: readonly ContextProvider[], options: HistoryFailureOptions) {
    this.#run = run;
    this.#signal = run.options.signal;
    this.#contexts = providers.map((provider) => ({ provider, context: new RunContext(run, provider) }));
    const loading = providers.find(({ loadsHistory }) => loadsHistory === true);
    this.#primary = loading === undefined ? undefined : new PrimaryHistory(run, loading, options);
  }

  /** Why the run has no history, when it goes on without. */
  get loss(): AgentFrameworkError | undefined {
    return this.#primary?.loss;
  }

  /** True when the failed run is to be tried again on the history as it is now. */
  get isToBeRepeated(): boolean {
    return this.#primary?.isToBeRepeated === true;
  }

  /** In list order. A failure ends the run; after an abort no further one begins, because nothing would follow it. */
  async before(): Promise<void> {
    for (const { provider, context } of this.#contexts) {
      this.#signal?.throwIfAborted();
      this.#begun.add(provider);
      await (provider === this.#primary?.provider ? this.#primary.load() : provider.beforeRun?.(context));
    }
  }

  /** In per-service-call mode: the loading provider must have stored what was produced; others are reported. */
  async persist(): Promise<void> {
    try {
      await this.#primary?.persist();
    } catch (error) {
      this.#storeFailure = error;
      throw error;
    }
    for (const { provider, context } of this.#others()) {
      await this.#persistAside(provider, context);
    }
  }

  /** One write at a time, and none after a failure: a store that does not answer must cost a run its deadline once. */
  #persistAside(provider: ContextProvider, context: RunContext): Promise<void> {
    const running = this.#aside.get(provider);
    if (running !== undefined) {
      running.isBehind = true;
      return running.done;
    }
    const write = async (): Promise<void> => {
      try {
        do {
          entry.isBehind = false;
          await provider.persist?.(context);
        } while (entry.isBehind);
        this.#aside.delete(provider);
      } catch (cause) {
        reportFailure(context, cause);
      }
    };
    const entry = { done: Promise.resolve().then(write), isBehind: false };
    this.#aside.set(provider, entry);
    return entry.done;
  }

  /**
   * Stores answers to approval requests one by one, behind what else the run was told: an answer whose run cannot store
   * its input stays to be given.
   *
   * @throws `conflict` when another run stored one of them first.
   */
  async claim(answers: readonly Message[]): Promise<void> {
    await this.#primary?.claim(answers);
  }

  /** In reverse order, the loading provider first. Rejects only for that one, with the response on the error. */
  async after(): Promise<void> {
    const failure = await this.#storeTurn();
    const { response } = this.#run;
    const isGivenUp = failure !== undefined && this.#isAbort(failure.error);
    if (failure !== undefined && (isGivenUp || this.isToBeRepeated)) {
      // For the others this attempt has failed: a turn that counts is the next one's.
      this.#run.error = failure.error;
      this.#run.response = undefined;
    }
    for (const { provider, context } of this.#others().filter((entry) => this.#begun.has(entry.provider))) {
      try {
        await provider.afterRun?.(context);
      } catch (error) {
        reportFailure(context, error);
      }
    }
    if (failure !== undefined) {
      throw isGivenUp ? failure.error : withResponse(failure.error, response);
    }
  }

  /** What ended the run, with what there was of an answer when it could not be stored. */
  withAnswerSoFar(error: unknown, answer: AgentResponse): unknown {
    const isLost = error !== undefined && error === this.#storeFailure && answer.messages.length > 0;
    return isLost && !this.#isAbort(error) ? withResponse(error, answer) : error;
  }

  /** True for the abort itself, which ends a run that waits for its next attempt to store. */
  #isAbort(error: unknown): boolean {
    return this.#signal?.aborted === true && error === this.#signal.reason;
  }

  /** The loading provider's after hook; its failure, unless the run has failed before. */
  async #storeTurn(): Promise<{ readonly error: unknown } | undefined> {
    const primary = this.#primary;
    if (primary === undefined || !this.#begun.has(primary.provider)) {
      return undefined;
    }
    try {
      await primary.after();
    } catch (error) {
      if (this.#run.error === undefined) {
        return { error };
      }
      reportFailure(new RunContext(this.#run, primary.provider), error);
    }
    return undefined;
  }

  #others(): { readonly provider: ContextProvider; readonly context: RunContext }[] {
    return this.#contexts.toReversed().filter(({ provider }) => provider !== this.#primary?.provider);
  }
}

function reportFailure(context: RunContext, cause: unknown): void {
  context.report({ type: "provider_failed", message: "the provider failed; the run's outcome stands", cause });
}

/** The store's error with the response that could not be stored, so that it is not lost. */
function withResponse(cause: unknown, response: unknown): AgentFrameworkError {
  if (isAgentFrameworkError(cause)) {
    const { code, provider, currentVersion, position } = cause;
    const prefix = provider === undefined ? "" : `[${provider}] `;
    const message = cause.message.startsWith(prefix) ? cause.message.slice(prefix.length) : cause.message;
    return new AgentFrameworkError(code, message, { provider, currentVersion, position, response, cause });
  }
  return new AgentFrameworkError("unavailable", "the history could not be stored", { response, cause });
}
