import { AgentFrameworkError, isAgentFrameworkError, withDeadline } from "@agentfw/core";
import type { RedisClient } from "./client.ts";
import type { Connection } from "./connection.ts";
import {
  corruptError,
  isAnswer,
  isConnectionLost,
  isUnsent,
  PROVIDER,
  RedisProblem,
  toFrameworkError,
} from "./errors.ts";
import { runScript, type ScriptRun } from "./script.ts";

/** One run of a script. */
export interface Call extends ScriptRun {
  /** Named in errors. */
  readonly name: string;
  /** A write whose answer is lost is `outcome_unknown`. */
  readonly kind: "read" | "write";
  /** True when the script may be sent again although it may have been carried out. */
  readonly mayRepeat: boolean;
  readonly signal: AbortSignal | undefined;
  /** How long the call may take. */
  readonly timeoutMs: number;
}

/** What a script gave. */
export interface Answer {
  readonly parts: readonly string[];
  /** True when the script may have been carried out before and this answer is that of a repetition. */
  readonly isRepetition: boolean;
}

/** How far one call has come. */
interface Progress {
  isOver: boolean;
  /** When it was sent last; undefined when it never was. */
  sentAt: number | undefined;
  /** True when its connection ended under it, so that it may have been carried out. */
  isUncertain: boolean;
  /** What the last try ran into. */
  problem: unknown;
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * Every call to the server goes through here: it settles within its time, is tried again where that is safe, and fails
 * with an error of the framework. Calls do not wait for each other.
 */
export class Calls {
  readonly #connection: Connection;
  #answeredAt = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Runs a script, in one round trip where the server knows it.
   *
   * @throws the abort reason, `timeout`, `unavailable`, `unauthorized` and `configuration` when nothing was written;
   * `outcome_unknown` when a write was sent and not answered; `corrupt` when the script cannot read what is stored.
   */
  async run(call: Call): Promise<Answer> {
    const { name, signal, timeoutMs } = call;
    const progress: Progress = { isOver: false, sentAt: undefined, isUncertain: false, problem: undefined };
    try {
      // What a late write means is decided below: this cannot know whether it was sent.
      const limits = { kind: "read", provider: PROVIDER, timeoutMs, signal } as const;
      const answer = await withDeadline(name, limits, () => this.#try(call, progress));
      if (answer.parts[0] === "corrupt") {
        throw corruptError(name, answer.parts[1] ?? "entry");
      }
      return answer;
    } catch (error) {
      throw this.#explain(error, call, progress);
    } finally {
      progress.isOver = true;
    }
  }

  async #try(call: Call, progress: Progress): Promise<Answer> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      let client = this.#connection.ready;
      try {
        // No await when there is a connection: what many callers ask for in one turn is sent in that turn.
        client ??= await this.#connection.open();
        return await this.#send(client, call, progress);
      } catch (error) {
        progress.problem = error;
        const isUnheard = client === undefined ? !isAnswer(error) : isUnsent(error);
        const mayPass = isUnheard || (isConnectionLost(error) && call.mayRepeat);
        if (progress.isOver || !this.#connection.retries || !mayPass) {
          throw error;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #send(client: RedisClient, call: Call, progress: Progress): Promise<Answer> {
    if (progress.isOver) {
      // The caller was told that nothing was sent, and so it must be. Nobody hears this.
      throw new RedisProblem("given up before it was sent");
    }
    const { interruptions } = this.#connection;
    progress.sentAt = performance.now();
    try {
      const parts = await runScript(client, call);
      this.#answeredAt = performance.now();
      return { parts, isRepetition: progress.isUncertain || this.#connection.interruptions !== interruptions };
    } catch (error) {
      // A driver that sends again by itself shows the last answer only, and an earlier one may have been lost.
      progress.isUncertain ||= isConnectionLost(error) || this.#connection.interruptions !== interruptions;
      if (isAnswer(error)) {
        this.#answeredAt = performance.now();
      }
      if (error instanceof Error && error.message.startsWith("READONLY")) {
        // After a failover the name of the master leads elsewhere, and only a new connection goes there.
        this.#connection.drop();
      }
      throw error;
    }
  }

  #explain(error: unknown, { name, kind, signal }: Call, progress: Progress): unknown {
    const { sentAt, problem, isUncertain } = progress;
    const isAbort = signal?.aborted === true && error === signal.reason;
    const isLate = isAgentFrameworkError(error, "timeout");
    if (isLate && sentAt !== undefined && this.#answeredAt < sentAt) {
      // Nothing has come back since: a connection may be dead for a quarter of an hour before the system says so.
      this.#connection.drop();
    }
    if (kind === "write" && (isUncertain || ((isAbort || isLate) && sentAt !== undefined))) {
      const reason = isAbort ? "aborted before the answer came" : "the answer was lost";
      const cause = isLate ? (problem ?? error) : error;
      return new AgentFrameworkError("outcome_unknown", `${name}: ${reason}`, { provider: PROVIDER, cause });
    }
    if (isAbort) {
      return error;
    }
    // A write that was never sent fails as a read does: nothing happened.
    return toFrameworkError(isLate ? (problem ?? error) : error, name, sentAt === undefined ? "read" : kind);
  }
}
