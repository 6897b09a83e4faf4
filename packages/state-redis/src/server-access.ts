import { withDeadline } from "@agentfw/core";
import type { RedisClient } from "./client.ts";
import type { Connection } from "./connection.ts";
import { awaitEngine, type Engine, loadEngine, loadedEngine } from "./load-engine.ts";
import type { Address } from "./options.ts";

/** What answers calls. */
export interface Server {
  readonly engine: Engine;
  readonly connection: Connection;
}

/** A store's way to its server: the engine, and the connection that this makes. */
export class ServerAccess {
  readonly #address: Address | RedisClient;
  readonly #timeoutMs: number;
  #server: Server | undefined;
  #isClosed = false;

  /** Begins to load the engine, so that it is there before the first call, and long before the first failure. */
  constructor(address: Address | RedisClient, timeoutMs: number) {
    this.#address = address;
    this.#timeoutMs = timeoutMs;
    loadEngine();
  }

  /** Undefined until the engine is loaded. */
  get server(): Server | undefined {
    return this.#server ?? this.#reach();
  }

  /**
   * Ends a connection of ours after the calls that were made before.
   *
   * @param isAwaited True when any of them may still wait for the engine.
   */
  close(isAwaited: boolean): Promise<void> {
    if (this.server !== undefined || !isAwaited) {
      return this.#end();
    }
    // In turn with those that wait, none of which waits longer than its time.
    const inTurn = () =>
      new Promise<void>((resolve) => {
        const end = () => resolve(this.#end());
        awaitEngine({ name: "close", start: end, fail: end });
      });
    return withDeadline("close", { kind: "read", timeoutMs: this.#timeoutMs }, inTurn).catch(() => undefined);
  }

  #reach(): Server | undefined {
    const engine = loadedEngine();
    if (engine !== undefined) {
      const { borrow, OwnConnection } = engine;
      const address = this.#address;
      const connection = "call" in address ? borrow(address) : new OwnConnection(address, this.#timeoutMs);
      if (this.#isClosed) {
        void connection.close();
      }
      this.#server = { engine, connection };
    }
    return this.#server;
  }

  async #end(): Promise<void> {
    this.#isClosed = true;
    await this.server?.connection.close();
  }
}
