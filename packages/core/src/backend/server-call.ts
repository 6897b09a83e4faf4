import { AgentFrameworkError, configurationError, isAgentFrameworkError } from "../errors.ts";
import type { Deadlines, Timed } from "./deadlines.ts";
import type { OnDemand } from "./on-demand.ts";
import type { OpenCall, ServerEngine, ServerFailure, ServerRequest } from "./server-engine.ts";
import { ServerProblem } from "./server-problem.ts";

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/** What the calls of a store have in common. */
export interface Traffic<Engine> {
  readonly provider: string;
  readonly timeoutMs: number;
  readonly engine: OnDemand<Engine>;
  readonly deadlines: Deadlines;
  /** How often the server said anything. */
  answers: number;
  isClosed: boolean;
  /** Called when a closed store has no call under way any more. */
  readonly whenIdle: (() => void)[];
}

/** One call on its way. Callbacks instead of async functions: each of those costs as much as all of this. */
export class ServerCall<Client, Engine extends ServerEngine<Client>, Result, Reply> implements OpenCall, Timed {
  deadline = 0;
  readonly #traffic: Traffic<Engine>;
  #request: ServerRequest<Client, Engine, Result, Reply>;
  readonly #resolve: (value: Result) => void;
  readonly #reject: (error: unknown) => void;
  #onAbort: (() => void) | undefined;
  #isOver = false;
  /** What the last try went through. */
  #engine: Engine | undefined;
  /** How often the server had said anything when this was sent last; undefined when it never was. */
  #answersBefore: number | undefined;
  /** How often the connection had been interrupted then. */
  #interruptionsBefore = 0;
  /** True when its connection ended under it, so that it may have been carried out. */
  #isUncertain = false;
  /** What the last try ran into. */
  #problem: unknown;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(
    traffic: Traffic<Engine>,
    request: ServerRequest<Client, Engine, Result, Reply>,
    resolve: (value: Result) => void,
    reject: (error: unknown) => void,
  ) {
    this.#traffic = traffic;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  start(): void {
    const { name, signal } = this.#request;
    const { deadlines, isClosed, provider } = this.#traffic;
    deadlines.add(this);
    if (signal !== undefined) {
      this.#onAbort = () => this.#fail(signal.reason, "abort");
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    if (isClosed) {
      this.#fail(new AgentFrameworkError("configuration", `${name}: the store was closed`, { provider }), "error");
      return;
    }
    this.#attempt();
  }

  /** Called when the time is over. */
  late(): void {
    const { answers, provider, timeoutMs } = this.#traffic;
    if (this.#answersBefore === answers) {
      // Nothing has come back since: a connection may be dead for a quarter of an hour before the system says so.
      this.#engine?.connection.drop();
    }
    const message = `${this.#request.name}: no answer within ${timeoutMs} ms`;
    this.#fail(this.#problem ?? new AgentFrameworkError("timeout", message, { provider }), "late");
  }

  #attempt(): void {
    const { engine } = this.#traffic;
    const { loaded } = engine;
    if (loaded !== undefined) {
      this.#attemptWith(loaded);
      return;
    }
    const start = async (part: Engine) => {
      if (!this.#isOver) {
        this.#attemptWith(part);
      }
    };
    engine.run(this.#request.name, start).catch((error: unknown) => this.#fail(error, "error"));
  }

  #attemptWith(engine: Engine): void {
    this.#engine = engine;
    const client = engine.connection.ready;
    if (client !== undefined) {
      this.#send(engine, client);
      return;
    }
    engine.connection.open().then(
      (opened) => {
        // A caller who was told that nothing was sent must not be wrong about it.
        if (!this.#isOver) {
          this.#send(engine, opened);
        }
      },
      (error: unknown) => {
        this.#tryAgain(engine, error, !isAnswer(failureOf(engine, error)));
      },
    );
  }

  #send(engine: Engine, client: Client, isWhole = false): void {
    const request = this.#request;
    this.#answersBefore = this.#traffic.answers;
    this.#interruptionsBefore = engine.connection.interruptions;
    if (this.#traffic.deadlines.size > 1) {
      engine.gather?.(client);
    }
    try {
      const send = (isWhole && request.sendWhole) || request.send;
      send(client, engine, this).then(
        (reply) => this.#answered(engine, client, reply),
        (error: unknown) => this.#failed(engine, client, error),
      );
    } catch (cause) {
      this.#fail(configurationError("client", "its call must give a promise", cause), "error");
    }
  }

  #answered(engine: Engine, client: Client, reply: Reply): void {
    this.#traffic.answers += 1;
    if (this.#isOver) {
      return;
    }
    this.#noteInterruption(engine);
    try {
      const next = this.#request.next?.(reply, engine);
      if (next !== undefined) {
        this.#request = next;
        this.#send(engine, client);
        return;
      }
      this.#resolve(this.#request.receive(reply, engine, this.#isUncertain));
    } catch (error) {
      this.#reject(this.#explain(error));
    }
    this.#settle();
  }

  #failed(engine: Engine, client: Client, error: unknown): void {
    const failure = failureOf(engine, error);
    const { outcome } = failure;
    const isLost = outcome === "lost";
    this.#isUncertain ||= isLost;
    this.#noteInterruption(engine);
    if (isAnswer(failure)) {
      this.#traffic.answers += 1;
    }
    if (outcome === "forgotten" && this.#request.sendWhole !== undefined && !this.#isOver) {
      this.#send(engine, client, true);
      return;
    }
    if (outcome === "unsent" || isLost) {
      // Nothing is under way now: the connection that others have meanwhile must not be dropped for it.
      this.#answersBefore = undefined;
    }
    if (outcome === "misplaced") {
      engine.connection.drop();
    }
    this.#tryAgain(engine, error, (isLost && this.#request.mayRepeat) || outcome === "unsent");
  }

  /** A driver that sends again by itself shows the last answer only, and an earlier one may have been lost. */
  #noteInterruption({ connection }: Engine): void {
    this.#isUncertain ||= connection.interruptions !== this.#interruptionsBefore;
  }

  #tryAgain(engine: Engine, error: unknown, mayPass: boolean): void {
    if (this.#isOver) {
      return;
    }
    this.#problem = error;
    if (!mayPass || !engine.connection.retries) {
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

  #fail(error: unknown, why: "error" | "late" | "abort"): void {
    if (!this.#settle()) {
      return;
    }
    const { name, kind } = this.#request;
    const { provider } = this.#traffic;
    const isSent = this.#answersBefore !== undefined;
    if (kind === "write" && (this.#isUncertain || (why !== "error" && isSent))) {
      const reason = why === "abort" ? "aborted before the answer came" : "the answer was lost";
      this.#reject(new AgentFrameworkError("outcome_unknown", `${name}: ${reason}`, { provider, cause: error }));
      return;
    }
    this.#reject(why === "abort" ? error : this.#explain(error));
  }

  #explain(error: unknown): unknown {
    // Without an engine, all there is to say was said.
    if (isAgentFrameworkError(error) || this.#engine === undefined) {
      return error;
    }
    const { code, reason, currentVersion, position } = failureOf(this.#engine, error);
    const details = { provider: this.#traffic.provider, cause: error, currentVersion, position };
    return new AgentFrameworkError(code, `${this.#request.name}: ${reason}`, details);
  }

  /** False when that was done before. */
  #settle(): boolean {
    if (this.#isOver) {
      return false;
    }
    this.#isOver = true;
    this.#traffic.deadlines.remove(this);
    if (this.#onAbort !== undefined) {
      this.#request.signal?.removeEventListener("abort", this.#onAbort);
    }
    if (this.#traffic.isClosed && this.#traffic.deadlines.size === 0) {
      for (const tell of this.#traffic.whenIdle.splice(0)) {
        tell();
      }
    }
    return true;
  }
}

function isAnswer({ outcome }: ServerFailure): boolean {
  return outcome === "refused" || outcome === "forgotten" || outcome === "misplaced";
}

function failureOf<Client>(engine: ServerEngine<Client>, error: unknown): ServerFailure {
  return error instanceof ServerProblem ? error.failure : engine.failureOf(error);
}
