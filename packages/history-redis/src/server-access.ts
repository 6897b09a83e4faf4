import { OnDemand } from "@agentfw/core/backend";
import type { RedisClient } from "./client.ts";
import type { Connection } from "./connection.ts";
import { type Engine, engineSource } from "./load-engine.ts";
import type { Address } from "./options.ts";
import { PROVIDER } from "./provider.ts";

/** What answers calls. */
export interface Server {
  readonly engine: Engine;
  readonly connection: Connection;
}

/** A store's way to its server: the engine, and the connection that this makes. */
export class ServerAccess {
  readonly engine: OnDemand<Engine>;
  readonly #address: Address | RedisClient;
  readonly #timeoutMs: number;
  #server: Server | undefined;
  #isClosing = false;
  #isClosed = false;

  /** Begins to load the engine, so that it is there before the first call, and long before the first failure. */
  constructor(address: Address | RedisClient, timeoutMs: number) {
    this.#address = address;
    this.#timeoutMs = timeoutMs;
    this.engine = new OnDemand(PROVIDER, engineSource.load);
  }

  /** True once `close` was called: no call begins any more. What waits for the engine still does. */
  get refuses(): boolean {
    return this.#isClosing;
  }

  /** Undefined until the engine is loaded, and all who waited for it have begun. */
  get server(): Server | undefined {
    const engine = this.engine.loaded;
    return engine === undefined ? undefined : this.reach(engine);
  }

  /** For who waited for the engine: what it reaches. */
  reach(engine: Engine): Server {
    this.#server ??= this.#makeServer(engine);
    return this.#server;
  }

  /** Ends a connection of ours after the calls that were made before, none of which waits for the engine longer than its time. */
  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.server === undefined) {
      await this.engine.close(this.#timeoutMs);
    }
    this.#isClosed = true;
    await this.server?.connection.close();
  }

  #makeServer(engine: Engine): Server {
    const { borrow, OwnConnection } = engine;
    const address = this.#address;
    const connection = "call" in address ? borrow(address) : new OwnConnection(address, this.#timeoutMs);
    if (this.#isClosed) {
      void connection.close();
    }
    return { engine, connection };
  }
}
