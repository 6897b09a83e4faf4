import { isAgentFrameworkError, withDeadline } from "@agentfw/core";
import type { CallLimits } from "@agentfw/core/backend";
import type { PostgresStatement } from "./client.ts";
import type { Connection, Lease, Row } from "./connection.ts";
import {
  isConnectionOver,
  isOutcomeOpen,
  meaningOf,
  PostgresProblem,
  sqlStateOf,
  toFrameworkError,
  unknownOutcome,
} from "./errors.ts";
import { PROVIDER } from "./provider.ts";

/** What is asked of the server. */
export interface Call {
  /** Named in errors. */
  readonly name: string;
  /** A write whose answer is lost is `outcome_unknown`. */
  readonly kind: "read" | "write";
  /** True when the statement may be sent again although it may have been carried out. */
  readonly mayRepeat: boolean;
  readonly statement: PostgresStatement;
  readonly limits: CallLimits;
}

/** What the server gave. */
export interface Answer {
  readonly rows: readonly Row[];
  /** True when the statement may have been carried out before, and this is the answer to a repetition. */
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
  /** The connection that it was handed to last. */
  lease?: Lease;
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * Every statement goes through here: it settles within the deadline, takes one connection, is repeated where nothing
 * was done or that is safe, and fails with an error of the framework.
 */
export class Calls {
  readonly #connection: Connection;
  #wasAnswered = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Runs one statement.
   *
   * @param ready What must be there first, in the same time; the statement is not sent where it rejects.
   * @throws errors of the framework, or the abort reason.
   */
  async run(call: Call, ready?: () => Promise<void>): Promise<Answer> {
    const { timeoutMs, signal } = call.limits;
    const progress: Progress = { isOver: false, isSent: false, isUncertain: false };
    // What a late write means is decided below: this cannot know whether it was sent.
    const deadline = { kind: "read", provider: PROVIDER, timeoutMs, signal } as const;
    try {
      return await withDeadline(call.name, deadline, async () => {
        await ready?.();
        return await this.#try(call, progress);
      });
    } catch (error) {
      giveUp(error, call, progress);
      throw explain(error, call, progress);
    } finally {
      progress.isOver = true;
    }
  }

  async #try(call: Call, progress: Progress): Promise<Answer> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      let lease: Lease | undefined;
      try {
        lease = await this.#connection.lease();
        return await this.#send(lease, call, progress);
      } catch (error) {
        progress.problem = error;
        if (progress.isOver || !this.#mayPass(error, lease !== undefined, call)) {
          throw error;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** Before the first answer a wrong address is more likely than an outage, and is told at once. */
  #mayPass(error: unknown, wasConnected: boolean, { mayRepeat }: Call): boolean {
    const { fate } = meaningOf(error);
    const isConnection = wasConnected
      ? fate === "passing" || (fate === "lost" && mayRepeat)
      : toFrameworkError(error, "connect").code === "unavailable";
    return fate === "undone" || (isConnection && this.#wasAnswered && this.#connection.reconnects);
  }

  async #send(lease: Lease, call: Call, progress: Progress): Promise<Answer> {
    if (progress.isOver) {
      lease.release(false);
      // The caller was told that nothing was sent, and so it must be. Nobody hears this.
      throw new PostgresProblem("given up before it was sent");
    }
    const isRepetition = progress.isUncertain;
    progress.isSent = true;
    progress.lease = lease;
    try {
      const rows = await lease.query(call.statement);
      this.#wasAnswered = true;
      lease.release(false);
      return { rows, isRepetition };
    } catch (error) {
      this.#wasAnswered ||= sqlStateOf(error) !== "";
      progress.isSent = false;
      progress.isUncertain ||= isOutcomeOpen(meaningOf(error));
      lease.release(isConnectionOver(error));
      throw error;
    }
  }
}

/** A connection that does not answer must not stay lent. After an abort it has as long to answer as it had before. */
function giveUp(error: unknown, { limits: { timeoutMs, signal } }: Call, { lease }: Progress): void {
  if (isAgentFrameworkError(error, "timeout")) {
    lease?.release(true);
  } else if (signal?.aborted) {
    setTimeout(() => lease?.release(true), timeoutMs).unref();
  }
}

function explain(error: unknown, { name, kind, limits: { signal } }: Call, progress: Progress): unknown {
  const { isSent, problem, isUncertain } = progress;
  const isAbort = signal?.aborted === true && error === signal.reason;
  const isLate = isAgentFrameworkError(error, "timeout");
  const cause = isLate ? (problem ?? error) : error;
  if (kind === "write" && (isUncertain || (isSent && (isAbort || isLate)))) {
    return unknownOutcome(name, isAbort ? "aborted before the answer came" : "the answer was lost", cause);
  }
  // A write that was not carried out fails as a read does: nothing happened.
  return isAbort ? error : toFrameworkError(cause, name);
}
