import { AgentFrameworkError } from "@agentfw/core";
import { type FaultProxy, startFaultProxy } from "@agentfw/test-servers";
import { behindPort, type Place, serverOf } from "./places.ts";

/** What can go wrong between a process and its store, each for the call that is handed over. */
export interface Faults {
  /** The store cannot be reached, for this call and all others until {@link end}. */
  away<T>(call: () => Promise<T>): Promise<T>;
  /** The store can be reached and says nothing, until this call has given up. */
  silent<T>(call: () => Promise<T>): Promise<T>;
  /** What is asked for happens, and the answer does not arrive. */
  lostReply<T>(call: () => Promise<T>): Promise<T>;
  /** The connection ends in the middle of it, `rounds` rounds of the event loop after it began. */
  cut<T>(call: () => Promise<T>, rounds: number): Promise<T>;
  /** From now on nothing goes wrong. */
  end(): Promise<void>;
}

/** The place as this process reaches it, and what may happen on the way there. */
export async function faultsOf(place: Place): Promise<{ readonly faults: Faults; readonly reached: Place }> {
  const server = serverOf(place);
  if (server === undefined) {
    return { faults: new PlayedFaults(), reached: place };
  }
  // In this process, so that a fault begins at the very point that chance has chosen, and ends with the process.
  const proxy = await startFaultProxy(server);
  return { faults: new NetworkFaults(proxy), reached: behindPort(place, proxy.port) };
}

/** Faults of a store that has no network to break. */
class PlayedFaults implements Faults {
  async away<T>(): Promise<T> {
    throw new AgentFrameworkError("unavailable", "the store is away");
  }

  silent<T>(): Promise<T> {
    return new Promise(() => undefined);
  }

  async lostReply<T>(call: () => Promise<T>): Promise<T> {
    await call();
    throw new AgentFrameworkError("outcome_unknown", "the answer was lost");
  }

  async cut<T>(): Promise<T> {
    throw new AgentFrameworkError("unavailable", "the store was away for a moment");
  }

  async end(): Promise<void> {}
}

/** Faults of the connections to a server. What the store makes of them is what is under test. */
class NetworkFaults implements Faults {
  readonly #proxy: FaultProxy;

  constructor(proxy: FaultProxy) {
    this.#proxy = proxy;
  }

  async away<T>(call: () => Promise<T>): Promise<T> {
    await this.#proxy.refuse();
    return call();
  }

  async silent<T>(call: () => Promise<T>): Promise<T> {
    this.#proxy.blackhole();
    try {
      return await call();
    } finally {
      await this.#proxy.pass();
    }
  }

  async lostReply<T>(call: () => Promise<T>): Promise<T> {
    this.#proxy.cutNextReply(0);
    return call();
  }

  async cut<T>(call: () => Promise<T>, rounds: number): Promise<T> {
    const called = call();
    // It may be over before its connection is.
    called.catch(() => undefined);
    await afterRounds(rounds);
    this.#proxy.killConnections();
    return called;
  }

  async end(): Promise<void> {
    await this.#proxy.pass();
  }
}

/** Resolves after so many rounds of the event loop, in which a call goes as far as it goes. */
export async function afterRounds(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
