import { connect, createServer, type Server, type Socket } from "node:net";

/** What a {@link FaultProxy} stands in front of. */
export interface ProxyTarget {
  /** @default "127.0.0.1" */
  readonly host?: string | undefined;
  readonly port: number;
}

/**
 * A TCP proxy that breaks connections in the ways in which networks do. It starts by passing everything on; each fault
 * begins and ends by a call, while connections are open.
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
  /** The next answer is cut after this many bytes and its connection ended: 0 loses all of it. Happens once. */
  cutNextReply(afterBytes?: number): void;
  /** Ends all connections; new ones are accepted. */
  killConnections(): void;
  /** Ends all connections and stops listening. */
  close(): Promise<void>;
}

/** Starts a proxy on a free port. */
export async function startFaultProxy(target: ProxyTarget): Promise<FaultProxy> {
  const proxy = new TcpProxy(target);
  await proxy.listen();
  return proxy;
}

class TcpProxy implements FaultProxy {
  port = 0;
  latencyMs = 0;
  isBlackhole = false;
  cutAfterBytes: number | undefined;

  readonly #target: ProxyTarget;
  readonly #pairs = new Set<Pair>();
  #server: Server | undefined;

  constructor(target: ProxyTarget) {
    this.#target = target;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  async listen(): Promise<void> {
    if (this.#server !== undefined) {
      return;
    }
    const server = createServer((client) => {
      const pair = new Pair(client, this.#target, this);
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
    this.cutAfterBytes = afterBytes;
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

/** One connection to the proxy and its counterpart to the target. */
class Pair {
  readonly #client: Socket;
  readonly #upstream: Socket;

  constructor(client: Socket, target: ProxyTarget, proxy: TcpProxy) {
    this.#client = client;
    this.#upstream = connect(target.port, target.host ?? "127.0.0.1");
    for (const socket of [client, this.#upstream]) {
      socket.setNoDelay(true);
      socket.on("error", () => this.end());
      socket.on("close", () => this.end());
    }
    client.on("data", (chunk) => later(proxy.latencyMs, () => this.#upstream.write(chunk)));
    this.#upstream.on("data", (chunk) => {
      const cut = proxy.cutAfterBytes;
      if (cut === undefined) {
        later(proxy.latencyMs, () => client.write(chunk));
        return;
      }
      proxy.cutAfterBytes = undefined;
      client.write(chunk.subarray(0, cut), () => this.end());
    });
    if (proxy.isBlackhole) {
      this.hold();
    }
  }

  onEnd(listener: () => void): void {
    this.#client.once("close", listener);
  }

  /** Stops reading on both sides: what is sent waits in the system's buffers, as packets wait for a lost route. */
  hold(): void {
    this.#client.pause();
    this.#upstream.pause();
  }

  flow(): void {
    this.#client.resume();
    this.#upstream.resume();
  }

  end(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }
}

/** Timers of one length run in the order in which they were set, so the data keeps its order. */
function later(milliseconds: number, work: () => void): void {
  if (milliseconds > 0) {
    setTimeout(work, milliseconds);
  } else {
    work();
  }
}
