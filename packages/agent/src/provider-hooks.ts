import {
  AgentFrameworkError,
  type ContextProvider,
  isAgentFrameworkError,
  type Message,
  type Run,
  RunContext,
} from "@agentfw/core";

/** Calls the providers of one run, in their order and each protected from the others' failures. */
export class ProviderHooks {
  readonly #run: Run;
  readonly #contexts: readonly { readonly provider: ContextProvider; readonly context: RunContext }[];
  readonly #begun = new Set<ContextProvider>();
  /** What providers other than the loading one are storing during the run; one that failed waits for the end. */
  readonly #aside = new Map<ContextProvider, { readonly done: Promise<void>; isBehind: boolean }>();

  constructor(run: Run, providers: readonly ContextProvider[]) {
    this.#run = run;
    this.#contexts = providers.map((provider) => ({ provider, context: new RunContext(run, provider) }));
  }

  /** In list order. A failure ends the run; after an abort no further one begins, because nothing would follow it. */
  async before(): Promise<void> {
    for (const { provider, context } of this.#contexts) {
      this.#run.options.signal?.throwIfAborted();
      this.#begun.add(provider);
      await provider.beforeRun?.(context);
    }
  }

  /** In per-service-call mode: the loading provider must have stored what was produced; others are reported. */
  async persist(): Promise<void> {
    await this.#each((provider, context) =>
      provider.loadsHistory === true ? provider.persist?.(context) : this.#persistAside(provider, context),
    );
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
    const loading = this.#contexts.find(({ provider }) => provider.loadsHistory === true);
    const { input } = this.#run;
    if (loading?.provider.claim === undefined) {
      return;
    }
    this.#run.input = input.filter((message) => !answers.includes(message));
    try {
      await loading.provider.persist?.(loading.context);
    } finally {
      this.#run.input = input;
    }
    for (const answer of answers) {
      if (!(await loading.provider.claim(loading.context, [answer]))) {
        throw new AgentFrameworkError("conflict", "another run has answered this approval");
      }
    }
  }

  /** In reverse order, the loading provider first. Rejects only for that one, with the response on the error. */
  async after(): Promise<void> {
    await this.#each((provider, context) => (this.#begun.has(provider) ? provider.afterRun?.(context) : undefined));
  }

  async #each(hook: (provider: ContextProvider, context: RunContext) => Promise<void> | undefined): Promise<void> {
    const reversed = this.#contexts.toReversed();
    const isPrimary = ({ provider }: { provider: ContextProvider }) => provider.loadsHistory === true;
    let failure: { readonly error: unknown } | undefined;
    for (const entry of [...reversed.filter(isPrimary), ...reversed.filter((entry) => !isPrimary(entry))]) {
      try {
        await hook(entry.provider, entry.context);
      } catch (error) {
        if (isPrimary(entry) && this.#run.error === undefined) {
          failure = { error };
        } else {
          reportFailure(entry.context, error);
        }
      }
    }
    if (failure !== undefined) {
      throw withResponse(failure.error, this.#run.response);
    }
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
