import { withDeadline } from "../deadline.ts";
import { AgentFrameworkError, type ErrorCode, isAgentFrameworkError } from "../errors.ts";
import type { CallLimits } from "./on-demand.ts";

/** One connection, lent for one request. */
export interface Lease<Request, Reply> {
  /** Sends it and gives the answer. @throws what the driver throws */
  send(request: Request): Promise<Reply>;
  /** Gives the connection back; `true` ends it, also while a request is under way. Called once. */
  release(destroy: boolean): void;
}

/** The way to a server whose connections carry one request at a time: most databases. */
export interface LeasingConnection<Request, Reply> {
  /** True when requests whose connection ended may be sent again here: there is another connection. */
  readonly reconnects: boolean;
  /** Waits for a connection. @throws what kept it from connecting; the next call tries again. */
  lease(): Promise<Lease<Request, Reply>>;
  /** Ends what `lease` began. Does nothing to a connection that its owner keeps. */
  close(): Promise<void>;
}

/** What an error of a driver means to a caller, and to the call that ran into it. */
export interface LeasedFailure {
  /** For callers, of a request that certainly was not carried out or did not write. */
  readonly code: ErrorCode;
  readonly reason: string;
  /** With `corrupt`: where. */
  readonly position?: string | undefined;
  /** True when the server said it, so that there is one. */
  readonly isAnswer: boolean;
  /** True when the connection is of no more use. */
  readonly endsConnection: boolean;
  /**
   * What became of the request.
   *
   * - `refused`: nothing was done, and the next try would be told the same.
   * - `undone`: nothing was done, over what others did at the same time; it is tried again.
   * - `passing`: nothing was done, and another connection may soon serve.
   * - `lost`: its connection ended, and the server may have carried it out.
   * - `unclear`: nobody knows; the server may have carried it out.
   */
  readonly fate: "refused" | "undone" | "passing" | "lost" | "unclear";
}

/** What is asked of the server. */
export interface LeasedCall<Request> {
  /** Named in errors. */
  readonly name: string;
  /** A write whose answer is lost is `outcome_unknown`. */
  readonly kind: "read" | "write";
  /** True when the request may be sent again although it may have been carried out. */
  readonly mayRepeat: boolean;
  readonly request: Request;
}

/** What the server gave. */
export interface LeasedAnswer<Reply> {
  readonly reply: Reply;
  /** True when the request may have been carried out before, and this is the answer to a repetition. */
  readonly isRepetition: boolean;
}

/** How far one call has come. */
interface Progress {
  isOver: boolean;
  /** True while a connection has it and has given no answer. */
  isSent: boolean;
  /** True when its connection ended under it, so that it may have been carried out. */
  isUncertain: boolean;
  /** What the last try ran into. */
  problem?: unknown;
  /** Gives back the connection that it was handed to, if it has not come back yet. */
  release(destroy: boolean): void;
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * The calls of a store to a server, each on a connection of its own: a call settles within its deadline, is tried again where
 * nothing was done or that is safe, and fails with an error of the framework that says whether anything was written. A
 * connection that does not answer in time is ended. Calls do not wait for each other.
 */
export class LeasedCalls<Request, Reply> {
  readonly #provider: string;
  readonly #connection: LeasingConnection<Request, Reply>;
  readonly #failureOf: (error: unknown) => LeasedFailure;
  #wasAnswered = false;
  #underWay = 0;
  #whenIdle: (() => void)[] = [];

  /**
   * @param provider Named in errors.
   * @param failureOf What the driver's errors mean. Errors of the framework are told as they are.
   */
  constructor(
    provider: string,
    connection: LeasingConnection<Request, Reply>,
    failureOf: (error: unknown) => LeasedFailure,
  ) {
    this.#provider = provider;
    this.#connection = connection;
    this.#failureOf = failureOf;
  }

  /**
   * Makes one call.
   *
   * @param ready What must be there first, in the same time; nothing is sent where it rejects.
   * @throws what `failureOf` says, `timeout` or the abort reason when nothing was written; `outcome_unknown` when a write was
   * sent and its answer is missing.
   */
  async run(call: LeasedCall<Request>, limits: CallLimits, ready?: () => Promise<void>): Promise<LeasedAnswer<Reply>> {
    const { timeoutMs, signal } = limits;
    const progress: Progress = { isOver: false, isSent: false, isUncertain: false, release: () => {} };
    // What a late write means is decided below: this cannot know whether it was sent.
    const deadline = { kind: "read", provider: this.#provider, timeoutMs, signal } as const;
    this.#underWay += 1;
    try {
      return await withDeadline(call.name, deadline, async () => {
        await ready?.();
        return await this.#try(call, progress);
      });
    } catch (error) {
      giveUp(error, limits, progress);
      throw this.#explain(error, call, signal, progress);
    } finally {
      progress.isOver = true;
      this.#underWay -= 1;
      if (this.#underWay === 0) {
        for (const tell of this.#whenIdle.splice(0)) {
          tell();
        }
      }
    }
  }

  /**
   * Ends the connection behind the calls that were made before. Whoever calls this makes no more. Waits for the calls, and
   * then for the server, for no longer than `timeoutMs` each; what does not end by then is nothing that a caller could do
   * more about. Never rejects.
   */
  async close(timeoutMs: number): Promise<void> {
    await this.#within(timeoutMs, () => {
      return new Promise<void>((resolve) => {
        if (this.#underWay === 0) {
          resolve();
        } else {
          this.#whenIdle.push(resolve);
        }
      });
    });
    await this.#within(timeoutMs, () => this.#connection.close());
  }

  async #within(timeoutMs: number, work: () => Promise<void>): Promise<void> {
    await withDeadline("close", { kind: "read", provider: this.#provider, timeoutMs }, work).catch(() => undefined);
  }

  async #try(call: LeasedCall<Request>, progress: Progress): Promise<LeasedAnswer<Reply>> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      let lease: Lease<Request, Reply> | undefined;
      try {
        lease = await this.#connection.lease();
        return await this.#send(lease, call, progress);
      } catch (error) {
        progress.problem = error;
        if (progress.isOver || !this.#mayPass(error, lease !== undefined, call)) {
          throw error;
        }
      }
      await new Promise<void>((resolve) => setTimeout(() => resolve(), pause));
    }
  }

  /** Before the first answer a wrong address is more likely than an outage, and is told at once. */
  #mayPass(error: unknown, wasConnected: boolean, { mayRepeat }: LeasedCall<Request>): boolean {
    const { fate } = this.#failureOf(error);
    const isConnection = wasConnected
      ? fate === "passing" || (fate === "lost" && mayRepeat)
      : this.#errorOf(error, "connect").code === "unavailable";
    return fate === "undone" || (isConnection && this.#wasAnswered && this.#connection.reconnects);
  }

  async #send(
    lease: Lease<Request, Reply>,
    { name, request }: LeasedCall<Request>,
    progress: Progress,
  ): Promise<LeasedAnswer<Reply>> {
    if (progress.isOver) {
      lease.release(false);
      // The caller was told that nothing was sent, and so it must be. Nobody hears this.
      throw new AgentFrameworkError("timeout", `${name}: given up before it was sent`);
    }
    const isRepetition = progress.isUncertain;
    progress.isSent = true;
    progress.release = (destroy) => {
      progress.release = () => {};
      lease.release(destroy);
    };
    try {
      const reply = await lease.send(request);
      this.#wasAnswered = true;
      progress.release(false);
      return { reply, isRepetition };
    } catch (error) {
      const { fate, isAnswer, endsConnection } = this.#failureOf(error);
      this.#wasAnswered ||= isAnswer;
      progress.isSent = false;
      progress.isUncertain ||= fate === "lost" || fate === "unclear";
      progress.release(endsConnection);
      throw error;
    }
  }

  #explain(
    error: unknown,
    { name, kind }: LeasedCall<Request>,
    signal: AbortSignal | undefined,
    progress: Progress,
  ): unknown {
    const { isSent, problem, isUncertain } = progress;
    const isAbort = signal?.aborted === true && error === signal.reason;
    const isLate = isAgentFrameworkError(error, "timeout");
    const cause = isLate ? (problem ?? error) : error;
    if (kind === "write" && (isUncertain || (isSent && (isAbort || isLate)))) {
      const reason = isAbort ? "aborted before the answer came" : "the answer was lost";
      return new AgentFrameworkError("outcome_unknown", `${name}: ${reason}`, { provider: this.#provider, cause });
    }
    // A write that was not carried out fails as a read does: nothing happened.
    return isAbort ? error : this.#errorOf(cause, name);
  }

  #errorOf(error: unknown, operation: string): AgentFrameworkError {
    if (isAgentFrameworkError(error)) {
      return error;
    }
    const { code, reason, position } = this.#failureOf(error);
    return new AgentFrameworkError(code, `${operation}: ${reason}`, {
      provider: this.#provider,
      cause: error,
      position,
    });
  }
}

/** A connection that does not answer must not stay lent. After an abort it has as long to answer as it had before. */
function giveUp(error: unknown, { timeoutMs, signal }: CallLimits, progress: Progress): void {
  if (isAgentFrameworkError(error, "timeout")) {
    progress.release(true);
  } else if (signal?.aborted) {
    const timer: unknown = setTimeout(() => progress.release(true), timeoutMs);
    // Only timers of Node keep a process alive, and are told not to.
    if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function") {
      timer.unref();
    }
  }
}
