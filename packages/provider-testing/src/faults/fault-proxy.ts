import { createServer, type Server } from "node:net";
import { assertCount, assertName, assertObject, configurationError } from "@agentfw/core";
import { Pair } from "./pair.ts";

/** What a {@link FaultProxy} stands in front of. */
export interface ProxyTarget {
  /** @default "127.0.0.1" */
  readonly host?: string | undefined;
  readonly port: number;
}

/** Which request a fault is for. */
export interface RequestChoice {
  /**
   * The first request whose bytes hold this text, as UTF-8: `COMMIT` for a transaction that is under way, `PUT ` for
   * HTTP. Useless where the connection is encrypted. @default the next request, whatever it is
   */
  readonly containing?: string | undefined;
}

/**
 * A TCP proxy that breaks connections in the ways in which networks do. It starts by passing everything on; each fault
 * begins and ends by a call, while connections are open. It knows no protocol: a request is what comes from the client
 * until the target answers. Faults of one request happen once, to whichever connection carries it; asked for again
 * before it happened, a fault stays one.
 *
 * Each method that takes an argument throws `configuration` for one that does not fit.
 */
export interface FaultProxy {
  /** Where the proxy listens on the loopback interface. It stays the same for the proxy's whole life. */
  readonly port: number;
  /** Connections that are open now. */
  readonly connections: number;
  /** Delays every piece of data by this much in each direction. 0 ends it. */
  setLatency(milliseconds: number): void;
  /** Ends `refuse` and `blackhole`. What was held back by a blackhole arrives now, as after a lost route. */
  pass(): Promise<void>;
  /** Ends all connections and refuses new ones, as a server does that is not running. */
  refuse(): Promise<void>;
  /** Connections are accepted, nothing passes in either direction. */
  blackhole(): void;
  /** The next answer on any connection is cut after this many bytes and its connection ended: 0 loses all of it. */
  cutNextReply(afterBytes?: number): void;
  /** The request reaches the target, and its connection ends when the answer begins: nothing of that arrives. */
  loseNextReply(choice?: RequestChoice): void;
  /** The request does not reach the target, and its connection ends. Of a long one, earlier pieces may have. */
  loseNextRequest(choice?: RequestChoice): void;
  /**
   * The request reaches the target twice, the second time on a connection of its own; the first answer is passed on once
   * the second one has begun. For protocols in which a request stands by itself, as in HTTP.
   */
  duplicateNextRequest(choice?: RequestChoice): void;
  /** Ends all connections; new ones are accepted. */
  killConnections(): void;
  /** Ends all connections and stops listening. */
  close(): Promise<void>;
}

/**
 * Starts a proxy on a free port of the loopback interface.
 *
 * @throws `configuration` for a target that cannot be one. That nobody listens there shows with the first connection,
 * which then ends.
 */
export async function startFaultProxy(target: ProxyTarget): Promise<FaultProxy> {
  assertObject(target, "target");
  const { host = "127.0.0.1", port } = target;
  assertName(host, "host");
  assertCount(port, "port", 1);
  if (port > 65_535) {
    throw configurationError("port", "must be at most 65535");
  }
  const proxy = new TcpProxy({ host, port });
  await proxy.listen();
  return proxy;
}

class TcpProxy implements FaultProxy {
  port = 0;
  latencyMs = 0;
  isBlackhole = false;
  cutAfterBytes: number | undefined;
  lostReply: Buffer | undefined;
  lostRequest: Buffer | undefined;
  duplicate: Buffer | undefined;

  readonly target: Required<{ host: string; port: number }>;
  readonly #pairs = new Set<Pair>();
  #server: Server | undefined;

  constructor(target: { host: string; port: number }) {
    this.target = target;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  async listen(): Promise<void> {
    if (this.#server !== undefined) {
      return;
    }
    const server = createServer((client) => {
      const pair = new Pair(client, this);
      this.#pairs.add(pair);
      pair.onEnd(() => this.#pairs.delete(pair));
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.port, "127.0.0.1", resolve);
    });
    const address = server.address();
    this.port = typeof address === "object" && address !== null ? address.port : 0;
  }

  setLatency(milliseconds: number): void {
    assertCount(milliseconds, "milliseconds", 0);
    this.latencyMs = milliseconds;
  }

  async pass(): Promise<void> {
    this.isBlackhole = false;
    for (const pair of this.#pairs) {
      pair.flow();
    }
    await this.listen();
  }

  async refuse(): Promise<void> {
    await this.close();
  }

  blackhole(): void {
    this.isBlackhole = true;
    for (const pair of this.#pairs) {
      pair.hold();
    }
  }

  cutNextReply(afterBytes = 1): void {
    assertCount(afterBytes, "afterBytes", 0);
    this.cutAfterBytes = afterBytes;
  }

  loseNextReply(choice: RequestChoice = {}): void {
    this.lostReply = wanted(choice);
  }

  loseNextRequest(choice: RequestChoice = {}): void {
    this.lostRequest = wanted(choice);
  }

  duplicateNextRequest(choice: RequestChoice = {}): void {
    this.duplicate = wanted(choice);
  }

  killConnections(): void {
    for (const pair of this.#pairs) {
      pair.end();
    }
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.killConnections();
    if (server !== undefined) {
      await new Promise((resolve) => server.close(resolve));
    }
  }
}

/** The bytes to look for; every request holds none at all. */
function wanted(choice: RequestChoice): Buffer {
  assertObject(choice, "choice");
  if (choice.containing !== undefined) {
    assertName(choice.containing, "containing");
  }
  return Buffer.from(choice.containing ?? "", "utf8");
}
