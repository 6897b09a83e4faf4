import { AgentFrameworkError, isAgentFrameworkError, withDeadline } from "@agentfw/core";
import type { RedisClient } from "./client.ts";
import type { Engine } from "./load-engine.ts";
import type { Address } from "./options.ts";
import { PROVIDER } from "./provider.ts";
import { type Server, ServerAccess } from "./server-access.ts";

/** Names a script, whose text is loaded later than a call may be made. */
export type ScriptName = "delete" | "get" | "list" | "put";

/** One run of a script. */
export interface Call<T> {
  /** Named in errors. */
  readonly name: string;
  /** A write whose answer is lost is `outcome_unknown`. */
  readonly kind: "read" | "write";
  /** True when the script may be sent again although it may have been carried out. */
  readonly mayRepeat: boolean;
  readonly signal: AbortSignal | undefined;
  /** What is left of the time that a call may take, where it runs more than once. */
  readonly timeoutMs?: number;
  readonly script: ScriptName;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  /** Makes the result of what was answered. @throws errors of the framework. */
  readonly receive: (answer: Answer) => T;
}

/** What a script gave. */
export interface Answer {
  /** What takes it apart. */
  readonly engine: Engine;
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
  readonly #access: ServerAccess;
  readonly #timeoutMs: number;
  #answeredAt = 0;

  constructor(address: Address | RedisClient, timeoutMs: number) {
    this.#access = new ServerAccess(address, timeoutMs);
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Runs a script, in one round trip where the server knows it.
   *
   * @throws the abort reason, `timeout`, `unavailable`, `unauthorized` and `configuration` when nothing was written;
   * `outcome_unknown` when a write was sent and not answered; `corrupt` when the script cannot read what is stored.
   */
  async run<T>(call: Call<T>): Promise<T> {
    const { name, signal, timeoutMs = this.#timeoutMs } = call;
    const progress: Progress = { isOver: false, sentAt: undefined, isUncertain: false, problem: undefined };
    let answer: Answer;
    try {
      // What a late write means is decided below: this cannot know whether it was sent.
      const limits = { kind: "read", provider: PROVIDER, timeoutMs, signal } as const;
      answer = await withDeadline(name, limits, () => this.#begin(call, progress));
      if (answer.parts[0] === "corrupt") {
        throw answer.engine.corruptError(name, answer.parts[1] ?? "entry");
      }
    } catch (error) {
      throw this.#explain(error, call, progress);
    } finally {
      progress.isOver = true;
    }
    return call.receive(answer);
  }

  /** Ends a connection of ours after the calls that were made before. */
  close(): Promise<void> {
    return this.#access.close();
  }

  #begin<T>(call: Call<T>, progress: Progress): Promise<Answer> {
    const access = this.#access;
    if (access.refuses) {
      throw new AgentFrameworkError("configuration", `${call.name}: the store was closed`, { provider: PROVIDER });
    }
    const { server } = access;
    return server === undefined
      ? access.engine.run(call.name, (engine) => this.#try(access.reach(engine), call, progress))
      : this.#try(server, call, progress);
  }

  async #try<T>(server: Server, call: Call<T>, progress: Progress): Promise<Answer> {
    const { connection, engine } = server;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      let client = connection.ready;
      try {
        // No await when there is a connection: what many callers ask for in one turn is sent in that turn.
        if (client === undefined && !progress.isOver) {
          client = await connection.open();
        }
        return await this.#send(server, client, call, progress);
      } catch (error) {
        progress.problem = error;
        const isUnheard = client === undefined ? !engine.isAnswer(error) : engine.isUnsent(error);
        const mayPass = isUnheard || (engine.isConnectionLost(error) && call.mayRepeat);
        if (progress.isOver || !connection.retries || !mayPass) {
          throw error;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #send<T>(server: Server, client: RedisClient | undefined, call: Call<T>, progress: Progress): Promise<Answer> {
    const { connection, engine } = server;
    if (client === undefined || progress.isOver) {
      // The caller was told that nothing was sent, and so it must be. Nobody hears this.
      throw new engine.RedisProblem("given up before it was sent");
    }
    const { interruptions } = connection;
    progress.sentAt = performance.now();
    try {
      const parts = await engine.runScript(client, engine.SCRIPTS[call.script], call.keys, call.args);
      this.#answeredAt = performance.now();
      return { engine, parts, isRepetition: progress.isUncertain || connection.interruptions !== interruptions };
    } catch (error) {
      // A driver that sends again by itself shows the last answer only, and an earlier one may have been lost.
      progress.isUncertain ||= engine.isConnectionLost(error) || connection.interruptions !== interruptions;
      if (engine.isAnswer(error)) {
        this.#answeredAt = performance.now();
      }
      if (error instanceof Error && error.message.startsWith("READONLY")) {
        // After a failover the name of the master leads elsewhere, and only a new connection goes there.
        connection.drop();
      }
      throw error;
    }
  }

  #explain<T>(error: unknown, { name, kind, signal }: Call<T>, progress: Progress): unknown {
    const { sentAt, problem, isUncertain } = progress;
    const isAbort = signal?.aborted === true && error === signal.reason;
    const isLate = isAgentFrameworkError(error, "timeout");
    const met = isLate ? (problem ?? error) : error;
    if (isLate && sentAt !== undefined && this.#answeredAt < sentAt) {
      // Nothing has come back since: a connection may be dead for a quarter of an hour before the system says so.
      this.#access.server?.connection.drop();
    }
    if (kind === "write" && (isUncertain || ((isAbort || isLate) && sentAt !== undefined))) {
      const reason = isAbort ? "aborted before the answer came" : "the answer was lost";
      return new AgentFrameworkError("outcome_unknown", `${name}: ${reason}`, { provider: PROVIDER, cause: met });
    }
    if (isAbort) {
      return error;
    }
    // A write that was never sent fails as a read does: nothing happened. What fails without the engine is explained already.
    return this.#access.engine.loaded?.toFrameworkError(met, name, sentAt === undefined ? "read" : kind) ?? met;
  }
}
