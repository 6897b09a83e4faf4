import type { ServerRequest } from "@agentfw/core/backend";
import type { Address } from "./address.ts";
import type { RedisClient } from "./client.ts";
import type { Connection } from "./connection.ts";

/** What talks to the server. An import of the package does without it. */
export type EngineModule = typeof import("./engine.ts");

/** The same with a connection. */
export type Engine = EngineModule & { readonly connection: Connection };

/** What is asked of the server. */
export type Request<Result, Reply = unknown> = ServerRequest<RedisClient, Engine, Result, Reply>;

/** Where the engine comes from. */
export const engineSource = {
  load: (): Promise<EngineModule> => import("./engine.ts"),
};

/** Loads the engine for a server. Its connection is opened by the first call. */
export async function loadEngine(server: Address | RedisClient, timeoutMs: number): Promise<Engine> {
  const engine = await engineSource.load();
  return { ...engine, connection: engine.connectionTo(server, timeoutMs) };
}
