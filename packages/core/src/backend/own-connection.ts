import { withDeadline } from "../deadline.ts";
import { isAgentFrameworkError } from "../errors.ts";
import type { ServerConnection } from "./server-engine.ts";
import { ServerProblem } from "./server-problem.ts";

/** What `OwnConnection` needs of a driver. Its own reconnecting, and a queue of what it could not send, must be off. */
export interface Connector<Client> {
  /**
   * Makes a client and connects it. Leaves nothing behind when it throws, or when the signal is aborted, because it took too
   * long.
   *
   * @param onEnd To be called when the connection has ended, whenever that is.
   */
  connect(onEnd: () => void, signal: AbortSignal): Promise<Client>;
  /** Ends a connection after the requests under way. */
  quit(client: Client): Promise<unknown>;
  /** Ends it at once. */
  cut(client: Client): void;
}

/**
 * A connection of a store's own, made when it is needed and made anew when it ended: one for all calls, which never sends a request
 * after its caller was told how it ended.
 */
export class OwnConnection<Client> implements ServerConnection<Client> {
  readonly interruptions = 0;
  readonly #connector: Connector<Client>;
  readonly #timeoutMs: number;
  #client: Client | undefined;
  #opening: Promise<Client> | undefined;
  #wasOpen = false;
  #isClosed = false;

  /** @param timeoutMs What connecting and ending may take: a port may be open where nobody answers. */
  constructor(connector: Connector<Client>, timeoutMs: number) {
    this.#connector = connector;
    this.#timeoutMs = timeoutMs;
  }

  get ready(): Client | undefined {
    return this.#client;
  }

  /** Before the first success a wrong address is more likely than an outage, and is told at once. */
  get retries(): boolean {
    return this.#wasOpen && !this.#isClosed;
  }

  open(): Promise<Client> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  drop(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) {
      this.#connector.cut(client);
    }
  }

  /** Ends the connection after the requests under way. `open` rejects from then on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opening?.catch(() => undefined);
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) {
      // Ended by the other side, or too late to wait for: either way it is not needed any more.
      await this.#inTime(() => this.#connector.quit(client)).catch(() => undefined);
      this.#connector.cut(client);
    }
  }

  async #connect(): Promise<Client> {
    if (this.#isClosed) {
      throw new ServerProblem("unavailable", "the store was closed");
    }
    const giveUp = new AbortController();
    let hasEnded = false;
    const onEnd = () => {
      hasEnded = true;
      if (this.#client === client) {
        this.#client = undefined;
      }
    };
    let client: Client | undefined;
    try {
      client = await this.#inTime(() => this.#connector.connect(onEnd, giveUp.signal));
    } catch (error) {
      giveUp.abort();
      throw isAgentFrameworkError(error, "timeout")
        ? new ServerProblem("unavailable", `no answer within ${this.#timeoutMs} ms`)
        : error;
    }
    if (hasEnded) {
      this.#connector.cut(client);
      throw new ServerProblem("unavailable", "the connection ended as soon as it was made");
    }
    this.#client = client;
    this.#wasOpen = true;
    return client;
  }

  #inTime<Result>(work: () => Promise<Result>): Promise<Result> {
    return withDeadline("connection", { kind: "read", timeoutMs: this.#timeoutMs }, work);
  }
}
