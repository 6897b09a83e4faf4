import { Deadlines } from "./deadlines.ts";
import { OnDemand } from "./on-demand.ts";
import { ServerCall, type Traffic } from "./server-call.ts";
import type { ServerEngine, ServerRequest } from "./server-engine.ts";

/**
 * The calls of a store to its server: each settles within its time, is tried again where that can help and is safe, and
 * fails with an error of the framework that says whether anything was written. Calls do not wait for each other: what many
 * callers ask for in one turn of the event loop is sent in it, and a call whose engine and connection are there is sent
 * before `run` returns.
 */
export class ServerCalls<Client, Engine extends ServerEngine<Client>> {
  readonly #traffic: Traffic<Engine>;

  /**
   * Begins to load the engine.
   *
   * @param provider Named in errors.
   * @param timeoutMs What each call may take, waiting for the engine and for a connection included.
   * @param load Gives the engine, with its connection, which need not be open.
   */
  constructor(provider: string, timeoutMs: number, load: () => Promise<Engine>) {
    const [engine, deadlines] = [new OnDemand(provider, load), new Deadlines(timeoutMs)];
    this.#traffic = { provider, timeoutMs, engine, deadlines, answers: 0, isClosed: false, whenIdle: [] };
  }

  /**
   * Makes a call of what `prepare` checks and gives; what that throws is the call's rejection. Not an async function with a
   * promise to wait for, because each of those costs as much as the checks of a call.
   *
   * @throws the abort reason, `timeout`, or what the engine makes of an error, when nothing was written; `unavailable`
   * when the engine cannot be loaded; `configuration` after `close`; `outcome_unknown` when a write was sent and its answer is
   * missing.
   */
  run<Result, Reply>(prepare: () => ServerRequest<Client, Engine, Result, Reply>): Promise<Result> {
    return new Promise((resolve, reject) => {
      new ServerCall(this.#traffic, prepare(), resolve, reject).start();
    });
  }

  /**
   * Refuses later calls, and ends the connection after those that were made before, none of which waits for the engine longer
   * than its time. The `close` of a connection that its owner keeps does nothing.
   */
  async close(): Promise<void> {
    const { engine, timeoutMs, deadlines, whenIdle } = this.#traffic;
    this.#traffic.isClosed = true;
    const loaded = await engine.close(timeoutMs);
    if (deadlines.size > 0) {
      // A call may have more to send: each of them has its time, and settles.
      await new Promise<void>((resolve) => whenIdle.push(resolve));
    }
    await loaded?.connection.close();
  }
}
