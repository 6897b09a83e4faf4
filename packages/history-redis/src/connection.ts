import { isAgentFrameworkError, withDeadline } from "@agentfw/core";
import type { ServerConnection } from "@agentfw/core/backend";
import type { Redis } from "ioredis";
import type { Address } from "./address.ts";
import { borrow } from "./borrowed-connection.ts";
import type { RedisClient } from "./client.ts";
import { RedisProblem } from "./errors.ts";

/** The way to the server. */
export type Connection = ServerConnection<RedisClient>;

/** The way that the options say. */
export function connectionTo(server: Address | RedisClient, timeoutMs: number): Connection {
  return "call" in server ? borrow(server) : new OwnConnection(server, timeoutMs);
}

/**
 * A connection of our own, made when it is needed and made anew when it ended. The driver's own reconnecting and its
 * queue of unsent commands are off: a command must never be sent after its caller was told how it ended.
 */
export class OwnConnection implements Connection {
  readonly interruptions = 0;
  readonly #address: Address;
  readonly #timeoutMs: number;
  #client: Redis | undefined;
  #opening: Promise<RedisClient> | undefined;
  #wasOpen = false;
  #isClosed = false;

  constructor(address: Address, timeoutMs: number) {
    this.#address = address;
    this.#timeoutMs = timeoutMs;
  }

  get ready(): RedisClient | undefined {
    return this.#client;
  }

  /** Before the first success a wrong address is more likely than an outage, and is told at once. */
  get retries(): boolean {
    return this.#wasOpen && !this.#isClosed;
  }

  open(): Promise<RedisClient> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  drop(): void {
    this.#client?.disconnect();
    this.#client = undefined;
  }

  /** Ends the connection after the commands under way. Later calls are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opening?.catch(() => undefined);
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) {
      // Ended by the other side, or too late to wait for: either way it is not needed any more.
      await this.#inTime(() => client.quit()).catch(() => undefined);
      client.disconnect();
    }
  }

  async #connect(): Promise<RedisClient> {
    if (this.#isClosed) {
      throw new RedisProblem("unavailable", "the store was closed");
    }
    // Loaded here, because whoever passes a client in has a driver already.
    const { Redis } = await import("ioredis");
    const client = new Redis(driverOptions(this.#address, this.#timeoutMs));
    let problem: unknown;
    client.on("error", (error) => {
      problem = error;
    });
    client.on("close", () => {
      if (this.#client === client) {
        this.#client = undefined;
      }
    });
    try {
      await this.#inTime(() => this.#prepare(client));
    } catch (error) {
      client.disconnect();
      throw (
        problem ??
        (isAgentFrameworkError(error)
          ? new RedisProblem("unavailable", `no answer within ${this.#timeoutMs} ms`)
          : error)
      );
    }
    this.#client = client;
    this.#wasOpen = true;
    return client;
  }

  /** Connecting and ending may hang: the port is open and nobody answers. */
  #inTime(work: () => Promise<unknown>): Promise<unknown> {
    return withDeadline("connection", { kind: "read", timeoutMs: this.#timeoutMs }, work);
  }

  async #prepare(client: Redis): Promise<void> {
    await client.connect();
    if (this.#address.database > 0) {
      // Left to the driver, a database that the server does not have would silently be database 0.
      await client.call("select", [this.#address.database]);
    }
    if (client.status !== "ready") {
      throw new RedisProblem("unavailable", "the connection ended as soon as it was made");
    }
  }
}

function driverOptions({ host, port, username, password, isTls }: Address, timeoutMs: number) {
  return {
    host,
    port,
    username,
    password,
    ...(isTls ? { tls: {} } : {}),
    lazyConnect: true,
    connectTimeout: timeoutMs,
    enableOfflineQueue: false,
    // It asks for INFO, which a user with few rights may not, and says so on the console.
    enableReadyCheck: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: () => null,
  };
}
