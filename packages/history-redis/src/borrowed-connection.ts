import { ServerProblem } from "@agentfw/core/backend";
import type { RedisClient } from "./client.ts";
import type { Connection } from "./connection.ts";
import { failureOf } from "./errors.ts";

/** One for each client, so that many stores on one client add few listeners to it. */
const BORROWED = new WeakMap<RedisClient, BorrowedConnection>();

/** The connection of a client that was passed in. */
export function borrow(client: RedisClient): BorrowedConnection {
  const connection = BORROWED.get(client) ?? new BorrowedConnection(client);
  BORROWED.set(client, connection);
  return connection;
}

/**
 * A client that was passed in: it connects, reconnects and ends as its owner decided. While it has no connection,
 * nothing is sent to it: it would keep the command and send it later, when the caller has long been told that it failed.
 */
export class BorrowedConnection implements Connection {
  readonly retries = false;
  interruptions = 0;

  readonly #client: RedisClient;
  #opening: Promise<RedisClient> | undefined;
  #wasReady = false;
  /** What the last attempt to connect ran into. */
  #problem: unknown;

  constructor(client: RedisClient) {
    this.#client = client;
    for (const event of ["close", "-node"]) {
      client.on?.(event, () => {
        this.interruptions += 1;
      });
    }
  }

  get ready(): RedisClient | undefined {
    const { status, on } = this.#client;
    const isReady = status === undefined || status === "ready" || on === undefined;
    this.#wasReady ||= isReady;
    return isReady ? this.#client : undefined;
  }

  open(): Promise<RedisClient> {
    this.#opening ??= this.#wait().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  drop(): void {}

  async close(): Promise<void> {}

  #wait(): Promise<RedisClient> {
    const client = this.#client;
    if (client.status === "end") {
      return Promise.reject(new ServerProblem("unavailable", "the client was closed"));
    }
    return new Promise((resolve, reject) => {
      const stop = this.#listen((error) => {
        stop();
        if (error === undefined) {
          resolve(client);
        } else {
          reject(error);
        }
      });
      if (client.status === "wait") {
        // The events tell how it ends.
        client.connect?.().catch(() => undefined);
      }
    });
  }

  /** Calls `done` when the client is ready, or with what keeps it from becoming so. The result ends the listening. */
  #listen(done: (error?: unknown) => void): () => void {
    const { status } = this.#client;
    // The end of an earlier connection may still be announced; only attempts that began by now are ours.
    let isTrying = status === "wait" || status === "connecting" || status === "connect";
    const fail = () => done(this.#problem ?? new ServerProblem("unavailable", "the connection ended"));
    const listeners: Readonly<Record<string, (detail?: unknown) => void>> = {
      ready: () => {
        this.#wasReady = true;
        this.#problem = undefined;
        done();
      },
      end: fail,
      connecting: () => {
        isTrying = true;
      },
      error: (error) => {
        this.#problem = error;
        if (failureOf(error).outcome === "refused") {
          fail();
        }
      },
      close: () => {
        // Before the first success a wrong address is more likely than an outage, and is told at once.
        if (isTrying && !this.#wasReady) {
          fail();
        }
      },
    };
    for (const [event, listener] of Object.entries(listeners)) {
      this.#client.on?.(event, listener);
    }
    return () => {
      for (const [event, listener] of Object.entries(listeners)) {
        this.#client.off?.(event, listener);
      }
    };
  }
}
