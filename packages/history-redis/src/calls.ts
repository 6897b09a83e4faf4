import { AgentFrameworkError, isAgentFrameworkError, withDeadline } from "@agentfw/core";
import type { RedisClient } from "./client.ts";
import type { Connection } from "./connection.ts";
import { isConnectionLost, isUnsent, PROVIDER, RedisProblem, toFrameworkError } from "./errors.ts";

/** What is asked of the server. */
export interface CallOptions {
  /** Named in errors. */
  readonly name: string;
  /** A write whose answer is lost is `outcome_unknown`. */
  readonly kind: "read" | "write";
  readonly signal: AbortSignal | undefined;
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
 * Every call to the server goes through here: it settles within the deadline, is repeated when its connection ended
 * under it, and fails with an error of the framework. Calls do not wait for each other.
 *
 * What is sent must be safe to send twice: ids and stamps make it so.
 */
export class Calls {
  readonly #connection: Connection;
  readonly #timeoutMs: number;
  #answeredAt = 0;

  constructor(connection: Connection, timeoutMs: number) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
  }

  /** Runs `work` with a client. @throws errors of the framework, or the abort reason. */
  async run<T>(options: CallOptions, work: (client: RedisClient) => Promise<T>): Promise<T> {
    const { name, signal } = options;
    const progress: Progress = { isOver: false, sentAt: undefined, isUncertain: false, problem: undefined };
    const deadline = { kind: "read", provider: PROVIDER, timeoutMs: this.#timeoutMs, signal } as const;
    try {
      return await withDeadline(name, deadline, () => this.#try(progress, work));
    } catch (error) {
      throw this.#explain(error, options, progress);
    } finally {
      progress.isOver = true;
    }
  }

  async #try<T>(progress: Progress, work: (client: RedisClient) => Promise<T>): Promise<T> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      let client = this.#connection.ready;
      try {
        // No await when there is a connection: what many callers ask for in one turn is sent in that turn.
        client ??= await this.#connection.open();
        return await this.#send(client, progress, work);
      } catch (error) {
        progress.problem = error;
        const mayPass = client === undefined ? !isAnswer(error) : isConnectionLost(error) || isUnsent(error);
        if (progress.isOver || !this.#connection.retries || !mayPass) {
          throw error;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #send<T>(client: RedisClient, progress: Progress, work: (client: RedisClient) => Promise<T>): Promise<T> {
    if (progress.isOver) {
      // The caller was told that nothing was sent, and so it must be. Nobody hears this.
      throw new RedisProblem("given up before it was sent");
    }
    progress.sentAt = performance.now();
    try {
      const answer = await work(client);
      this.#answeredAt = performance.now();
      return answer;
    } catch (error) {
      progress.isUncertain ||= isConnectionLost(error);
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

  #explain(error: unknown, { name, kind, signal }: CallOptions, progress: Progress): unknown {
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

/** True for what the server itself said. */
function isAnswer(error: unknown): boolean {
  return error instanceof Error && error.name === "ReplyError";
}
