import { AgentFrameworkError } from "@agentfw/core";
import type { RedisClient } from "./client.ts";
import { Deadlines } from "./deadlines.ts";
import { gather } from "./gathering.ts";
import type { Engine } from "./load-engine.ts";
import type { Address } from "./options.ts";
import { PROVIDER } from "./provider.ts";
import { type Server, ServerAccess } from "./server-access.ts";

/** What is asked of the server. */
export interface Request<T, Reply = unknown> {
  /** Named in errors. */
  readonly name: string;
  /** A write whose answer is lost is `outcome_unknown`. */
  readonly kind: "read" | "write";
  /** False when a second try could undo what somebody wrote behind the first; ids and stamps make most writes safe. */
  readonly mayRepeat: boolean;
  readonly signal: AbortSignal | undefined;
  /** Sends it. Never throws, but rejects. */
  readonly send: Send<Reply>;
  /** Sends it another way, to a server that does not know the script. */
  readonly sendScript?: Send<Reply> | undefined;
  readonly receive: Receive<T, Reply>;
  /** What must be asked for instead, if that is what the answer says; nothing was written then. */
  readonly instead?: (reply: Reply) => Request<T, Reply> | undefined;
}

/** Sends what a request is about over a client. */
export type Send<Reply = unknown> = (client: RedisClient, engine: Engine) => Promise<Reply>;

/** Makes the result of what was answered. @throws errors of the framework. */
export type Receive<T, Reply = unknown> = (reply: Reply, engine: Engine) => T;

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * Every call to the server goes through here: it settles within its time, is tried again where that can help, and fails
 * with an error of the framework. Calls do not wait for each other: what many callers ask for in one turn is sent in it.
 */
export class Calls {
  readonly timeoutMs: number;
  readonly deadlines: Deadlines;
  /** How often the server said anything. */
  answers = 0;
  readonly access: ServerAccess;

  constructor(address: Address | RedisClient, timeoutMs: number) {
    this.access = new ServerAccess(address, timeoutMs);
    this.timeoutMs = timeoutMs;
    this.deadlines = new Deadlines(timeoutMs);
  }

  /**
   * Makes a call of what `prepare` checks and gives; what that throws is the call's rejection. Not an async function with a promise
   * to wait for, because each of those costs as much as the checks of a call.
   *
   * @throws the abort reason, `timeout`, `unavailable`, `unauthorized`, `configuration`, `corrupt` when nothing was
   * written; `outcome_unknown` when a write was sent and its answer is missing.
   */
  run<T, Reply>(prepare: () => Request<T, Reply>): Promise<T> {
    return new Promise((resolve, reject) => {
      new Call(this, prepare(), resolve, reject).start();
    });
  }

  /** Ends a connection of ours after the calls that were made before. */
  close(): Promise<void> {
    return this.access.close();
  }
}

/** One call on its way. Callbacks instead of async functions: each of those costs as much as all of this. */
class Call<T, Reply> {
  deadline = 0;
  readonly #calls: Calls;
  #request: Request<T, Reply>;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;
  #onAbort: (() => void) | undefined;
  #isOver = false;
  /** How often the server had said anything when this was sent last; undefined when it never was. */
  #answersBefore: number | undefined;
  /** How often the connection had been interrupted then. */
  #interruptionsBefore = 0;
  /** True when its connection ended under it, so that it may have been carried out. */
  #isUncertain = false;
  /** What the last try ran into. */
  #problem: unknown;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(calls: Calls, request: Request<T, Reply>, resolve: (value: T) => void, reject: (error: unknown) => void) {
    this.#calls = calls;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(): void {
    const { signal } = this.#request;
    this.#calls.deadlines.add(this);
    if (signal !== undefined) {
      this.#onAbort = () => this.#fail(signal.reason, "abort");
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    this.#attempt();
  }

  #attempt(): void {
    const { access } = this.#calls;
    if (access.refuses) {
      const message = `${this.#request.name}: the store was closed`;
      this.#fail(new AgentFrameworkError("configuration", message, { provider: PROVIDER }), "error");
      return;
    }
    const { server } = access;
    if (server !== undefined) {
      this.#attemptAt(server);
      return;
    }
    const start = async (engine: Engine) => {
      if (!this.#isOver) {
        this.#attemptAt(access.reach(engine));
      }
    };
    access.engine.run(this.#request.name, start).catch((error: unknown) => this.#fail(error, "error"));
  }

  #attemptAt(server: Server): void {
    const client = server.connection.ready;
    if (client !== undefined) {
      this.#send(server, client, this.#request.send);
      return;
    }
    server.connection.open().then(
      (opened) => {
        // A caller who was told that nothing was sent must not be wrong about it.
        if (!this.#isOver) {
          this.#send(server, opened, this.#request.send);
        }
      },
      (error: unknown) => this.#tryAgain(server, error, !server.engine.isAnswer(error)),
    );
  }

  #send(server: Server, client: RedisClient, send: Send<Reply>): void {
    this.#answersBefore = this.#calls.answers;
    this.#interruptionsBefore = server.connection.interruptions;
    if (this.#calls.deadlines.size > 1) {
      gather(client);
    }
    try {
      send(client, server.engine).then(
        (value) => {
          this.#calls.answers += 1;
          this.#answered(server, client, value);
        },
        (error: unknown) => this.#refused(server, client, error),
      );
    } catch (cause) {
      const message = "client: its call must give a promise";
      this.#fail(new AgentFrameworkError("configuration", message, { provider: PROVIDER, cause }), "error");
    }
  }

  #answered(server: Server, client: RedisClient, value: Reply): void {
    if (this.#isOver) {
      return;
    }
    const instead = this.#request.instead?.(value);
    if (instead !== undefined) {
      this.#request = instead;
      this.#send(server, client, instead.send);
      return;
    }
    this.#settle();
    try {
      this.#resolve(this.#request.receive(value, server.engine));
    } catch (error) {
      this.#reject(error);
    }
  }

  #refused(server: Server, client: RedisClient, error: unknown): void {
    const { connection, engine } = server;
    if (engine.isAnswer(error)) {
      this.#calls.answers += 1;
      const word = engine.answerWord(error);
      if (word === "NOSCRIPT" && this.#request.sendScript !== undefined && !this.#isOver) {
        // The server was started, took over or was told to forget its scripts. It keeps this one from now on.
        this.#send(server, client, this.#request.sendScript);
        return;
      }
      if (word === "READONLY") {
        // After a failover the name of the master leads elsewhere, and only a new connection goes there.
        connection.drop();
      }
    }
    const isLost = engine.isConnectionLost(error);
    // A driver that sends again by itself shows the last answer only, and an earlier one may have been lost.
    this.#isUncertain ||= isLost || connection.interruptions !== this.#interruptionsBefore;
    this.#tryAgain(server, error, (isLost && this.#request.mayRepeat) || engine.isUnsent(error));
  }

  #tryAgain(server: Server, error: unknown, mayPass: boolean): void {
    if (this.#isOver) {
      return;
    }
    this.#problem = error;
    if (!mayPass || !server.connection.retries) {
      this.#fail(error, "error");
      return;
    }
    setTimeout(() => {
      if (!this.#isOver) {
        this.#attempt();
      }
    }, this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  /** Called when the time is over. */
  late(): void {
    const { access, answers, timeoutMs } = this.#calls;
    if (this.#answersBefore === answers) {
      // Nothing has come back since: a connection may be dead for a quarter of an hour before the system says so.
      access.server?.connection.drop();
    }
    const message = `${this.#request.name}: no answer within ${timeoutMs} ms`;
    this.#fail(this.#problem ?? new AgentFrameworkError("timeout", message, { provider: PROVIDER }), "late");
  }

  #fail(error: unknown, why: "error" | "late" | "abort"): void {
    if (!this.#settle()) {
      return;
    }
    const { name, kind } = this.#request;
    const isSent = this.#answersBefore !== undefined;
    if (kind === "write" && (this.#isUncertain || (why !== "error" && isSent))) {
      const reason = why === "abort" ? "aborted before the answer came" : "the answer was lost";
      this.#reject(
        new AgentFrameworkError("outcome_unknown", `${name}: ${reason}`, { provider: PROVIDER, cause: error }),
      );
    } else {
      // A write that was never sent fails as a read does: nothing happened. What fails without the engine is explained already.
      const explained =
        this.#calls.access.engine.loaded?.toFrameworkError(error, name, isSent ? kind : "read") ?? error;
      this.#reject(why === "abort" ? error : explained);
    }
  }

  /** False when that was done before. */
  #settle(): boolean {
    if (this.#isOver) {
      return false;
    }
    this.#isOver = true;
    this.#calls.deadlines.remove(this);
    if (this.#onAbort !== undefined) {
      this.#request.signal?.removeEventListener("abort", this.#onAbort);
    }
    return true;
  }
}
