import { AgentFrameworkError, isAgentFrameworkError, withDeadline } from "@agentfw/core";
import { OnDemand } from "@agentfw/core/backend";
import { engineSources } from "./load-engines.ts";
import type { Settings } from "./options.ts";
import { PROVIDER } from "./provider-name.ts";
import type { StoredFiles } from "./stored-files.ts";

/** How far a call is, and whether its caller still waits for it. */
export class Progress {
  #hasChanged = false;
  #isDone = false;
  isGivenUp = false;

  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** True when the change was made: whatever fails now, others see it. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Call right before the change that decides. Throws when the call was given up. */
  beforeChange(): void {
    this.assertWanted();
    this.#hasChanged = true;
  }

  /** Call right after it. */
  afterChange(): void {
    this.#isDone = true;
  }

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
  /** Other than that of the store. */
  readonly timeoutMs?: number;
  work(files: StoredFiles, progress: Progress): Promise<T>;
}

/**
 * Runs the calls of a store, each within its deadline, of which waiting for the engine is a part. Until it changes something
 * a write ends as `timeout` or with the abort; from then on as `outcome_unknown`, and so does what fails after the change.
 */
export class Calls {
  readonly #timeoutMs: number;
  readonly #engine: OnDemand<StoredFiles>;

  constructor(settings: Settings) {
    this.#timeoutMs = settings.timeoutMs;
    this.#engine = new OnDemand(PROVIDER, async () => {
      const { StoredFiles } = await engineSources.store();
      return new StoredFiles(settings);
    });
  }

  /** @throws `unavailable` when the engine cannot be loaded. */
  async run<T>(call: Call<T>): Promise<T> {
    const { kind, operation, signal, timeoutMs = this.#timeoutMs } = call;
    const progress = new Progress();
    try {
      return await withDeadline(operation, { kind, provider: PROVIDER, timeoutMs, signal }, () =>
        this.#engine.run(operation, (files) => {
          // It may have waited for the engine longer than its caller did.
          progress.assertWanted();
          return call.work(files, progress);
        }),
      );
    } catch (error) {
      // Whatever still runs stops at its next step, unless it was changing the file already.
      progress.isGivenUp = true;
      throw progress.isDone ? doneAllTheSame(error, operation) : this.#outcome(error, operation, progress);
    }
  }

  /** Resolves when everything under way has ended, also what nobody waits for any more. What still waits for the engine then never begins. */
  async close(): Promise<void> {
    await (await this.#engine.close(this.#timeoutMs))?.writing.close();
  }

  #outcome(error: unknown, operation: string, progress: Progress): unknown {
    // The outcome of a write that changed nothing is known, so it is never `outcome_unknown`.
    if (!progress.hasChanged && isAgentFrameworkError(error, "outcome_unknown")) {
      const message = `${operation}: not done within ${this.#timeoutMs} ms`;
      return error.cause ?? new AgentFrameworkError("timeout", message, { provider: PROVIDER });
    }
    const engine = this.#engine.loaded;
    // Without an engine nothing touched the disk, so there is no error of the system to explain.
    return engine === undefined ? error : engine.explain(error, operation);
  }
}

/** The change was made, but whether it is there after a power cut is not known, or a lock is left. */
function doneAllTheSame(cause: unknown, operation: string): AgentFrameworkError {
  if (isAgentFrameworkError(cause, "outcome_unknown")) {
    return cause;
  }
  const message = `${operation}: the change was made, but what has to follow it failed`;
  return new AgentFrameworkError("outcome_unknown", message, { provider: PROVIDER, cause });
}
