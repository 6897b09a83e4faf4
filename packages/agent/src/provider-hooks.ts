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
  readonly #aside = new Map<ContextProvider, Promise<void>>();

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
  #persistAside(provider: ContextProvider, context: RunContext): Promise<void> | undefined {
    const known = this.#aside.get(provider);
    if (known !== undefined || provider.persist === undefined) {
      return known;
    }
    const write = provider.persist(context).then(
      () => {
        this.#aside.delete(provider);
      },
      (cause: unknown) => reportFailure(context, cause),
    );
    this.#aside.set(provider, write);
    return write;
  }

  /** Stores answers to approval requests; false when another run was first. */
  async claim(answers: readonly Message[]): Promise<boolean> {
    for (const { provider, context } of this.#contexts) {
      if (provider.loadsHistory === true && provider.claim !== undefined) {
        return provider.claim(context, answers);
      }
    }
    return true;
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
