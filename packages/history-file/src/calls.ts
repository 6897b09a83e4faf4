import { AgentFrameworkError, isAgentFrameworkError, withDeadline } from "@agentfw/core";
import { OnDemand } from "@agentfw/core/backend";
import type { ConversationFiles } from "./conversation-files.ts";
import { engineSource } from "./load-engine.ts";
import type { Settings } from "./options.ts";
import { PROVIDER } from "./provider-name.ts";

/** How far a call is, and whether its caller still waits for it. */
export class Progress {
  hasChanged = false;
  isGivenUp = false;

  /** Stops a call whose caller was answered already. What is thrown reaches nobody. */
  assertWanted(): void {
    if (this.isGivenUp) {
      throw new AgentFrameworkError("timeout", "the call was given up", { provider: PROVIDER });
    }
  }
}

/** One call of the store. */
export interface Call<T> {
  readonly kind: "read" | "write";
  readonly operation: string;
  readonly signal: AbortSignal | undefined;
  work(files: ConversationFiles, progress: Progress): Promise<T>;
}

/**
 * Runs the calls of a store. Every call settles within the deadline, of which waiting for the engine is a part. Until its
 * first change a write ends as `timeout` or with the abort and has written nothing; from then on as `outcome_unknown`.
 */
export class Calls {
  readonly #timeoutMs: number;
  readonly #engine: OnDemand<ConversationFiles>;

  constructor(settings: Settings) {
    this.#timeoutMs = settings.timeoutMs;
    this.#engine = new OnDemand(PROVIDER, async () => {
      const { ConversationFiles } = await engineSource.load();
      return new ConversationFiles(settings);
    });
  }

  /** @throws `unavailable` when the engine cannot be loaded. */
  async run<T>(call: Call<T>): Promise<T> {
    const { kind, operation, signal } = call;
    const progress = new Progress();
    try {
      const deadline = { kind, provider: PROVIDER, timeoutMs: this.#timeoutMs, signal } as const;
      return await withDeadline(operation, deadline, () =>
        this.#engine.run(operation, (files) => {
          // It may have waited for the engine longer than its caller did.
          progress.assertWanted();
          return call.work(files, progress);
        }),
      );
    } catch (error) {
      // Whatever still runs stops at its next step, unless it was changing the file already.
      progress.isGivenUp = true;
      throw this.#outcome(error, operation, progress);
    }
  }

  /** Ends the use of the files, behind all that waits for the engine; without one there is nothing to end. */
  async close(): Promise<void> {
    const files = await this.#engine.close(this.#timeoutMs);
    const deadline = { kind: "read", provider: PROVIDER, timeoutMs: this.#timeoutMs } as const;
    await withDeadline("close", deadline, async () => files?.close());
  }

  #outcome(error: unknown, operation: string, progress: Progress): unknown {
    const engine = this.#engine.loaded;
    // The outcome of a write that changed nothing is known, so it is never `outcome_unknown`.
    if (!progress.hasChanged && isAgentFrameworkError(error, "outcome_unknown")) {
      const reason =
        engine === undefined ? "a part of the package was being loaded" : "other writers had the conversation";
      return (
        error.cause ??
        new AgentFrameworkError("timeout", `${operation}: ${reason} for ${this.#timeoutMs} ms`, { provider: PROVIDER })
      );
    }
    // Without an engine nothing touched the disk, so there is no error of the system to explain.
    return engine === undefined ? error : engine.explain(error, operation);
  }
}
