import { withDeadline } from "../deadline.ts";
import { AgentFrameworkError, type ErrorCode, isAgentFrameworkError } from "../errors.ts";
import { OnDemand } from "./on-demand.ts";

/** How far a call is, and whether its caller still waits for it. */
export class CallProgress {
  #hasChanged = false;
  #isDone = false;
  #isGivenUp = false;

  /** True from the first change on: how a call that fails now has ended is not certain. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** True when the change was made: whatever fails now, others see it. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Stops a call whose caller was answered already. What is thrown reaches nobody. */
  assertWanted(): void {
    if (this.#isGivenUp) {
      throw new AgentFrameworkError("timeout", "the call was given up");
    }
  }

  /** Call right before each change. @throws when the call was given up */
  beforeChange(): void {
    this.assertWanted();
    this.#hasChanged = true;
  }

  /** Call right after the change that decides, where more has to follow it. */
  afterChange(): void {
    this.#isDone = true;
  }

  /** The caller was answered. */
  giveUp(): void {
    this.#isGivenUp = true;
  }
}

/** What {@link EngineCalls} needs to know. */
export interface EngineCallsOptions<Engine> {
  /** Named in errors. */
  readonly provider: string;
  /** How long a call may take that says nothing else, in milliseconds. */
  readonly timeoutMs: number;
  /** Gives the engine, as for {@link OnDemand}. */
  readonly load: () => Promise<Engine>;
  /** What an error of the disk or the driver means to callers; undefined for one that passes through as it is. */
  readonly failureOf: (error: unknown) => { readonly code: ErrorCode; readonly reason: string } | undefined;
}

/**
 * The calls of a backend whose work is done in this process, on files for example, by an engine that is loaded on demand.
 * Each settles within its deadline, of which waiting for the engine is a part. As the work says what it has changed, a write that
 * changed nothing ends as `timeout` or with the abort, and as `outcome_unknown` from its first change on.
 */
export class EngineCalls<Engine> {
  readonly #options: EngineCallsOptions<Engine>;
  readonly #engine: OnDemand<Engine>;

  /** Begins to load the engine. That it fails is heard by the calls. */
  constructor(options: EngineCallsOptions<Engine>) {
    this.#options = options;
    this.#engine = new OnDemand(options.provider, options.load);
  }

  /**
   * Runs one call: at once where the engine is there, else in the order of the calls.
   *
   * @throws what `work` throws, explained by `failureOf`; `unavailable` when the engine cannot be loaded; `timeout` or the
   * abort reason when nothing was changed; `outcome_unknown` after a change, also when what had to follow it failed.
   */
  async run<Result>(
    kind: "read" | "write",
    operation: string,
    signal: AbortSignal | undefined,
    work: (engine: Engine, progress: CallProgress) => Promise<Result>,
    timeoutMs: number = this.#options.timeoutMs,
  ): Promise<Result> {
    const { provider } = this.#options;
    const progress = new CallProgress();
    try {
      return await withDeadline(operation, { kind, provider, timeoutMs, signal }, () =>
        this.#engine.run(operation, (engine) => {
          // It may have waited for the engine longer than its caller did.
          progress.assertWanted();
          return work(engine, progress);
        }),
      );
    } catch (error) {
      // Whatever still runs stops at its next step, unless it was changing something already.
      progress.giveUp();
      throw this.#outcome(error, operation, progress, timeoutMs);
    }
  }

  /**
   * Refuses later calls with `configuration`, and calls `end` with the engine when all that waits for it has begun or failed;
   * not at all where there is no engine. Can be called again.
   *
   * @throws `timeout` when `end` takes longer than a call may take, and what `end` throws, explained by `failureOf`.
   */
  async close(end: (engine: Engine) => Promise<void>): Promise<void> {
    const { provider, timeoutMs } = this.#options;
    const engine = await this.#engine.close(timeoutMs);
    try {
      await withDeadline("close", { kind: "read", provider, timeoutMs }, async () => engine && end(engine));
    } catch (error) {
      throw this.#outcome(error, "close", new CallProgress(), timeoutMs);
    }
  }

  #outcome(error: unknown, operation: string, { hasChanged, isDone }: CallProgress, timeoutMs: number): unknown {
    const because = (code: ErrorCode, reason: string, cause?: unknown) =>
      new AgentFrameworkError(code, `${operation}: ${reason}`, { provider: this.#options.provider, cause });
    if (isAgentFrameworkError(error, "outcome_unknown")) {
      // The outcome of a write that changed nothing is known.
      return hasChanged
        ? error
        : (error.cause ?? because("timeout", `not done within ${timeoutMs} ms; nothing was changed`));
    }
    if (isDone) {
      return because("outcome_unknown", "the change was made, but what has to follow it failed", error);
    }
    const failure = this.#options.failureOf(error);
    return failure === undefined ? error : because(failure.code, failure.reason, error);
  }
}
