import { OwnConnection, type ServerConnection } from "@agentfw/core/backend";
import type { Redis } from "ioredis";
import type { Address } from "./address.ts";
import { borrow } from "./borrowed-connection.ts";
import type { RedisClient } from "./client.ts";

/** The way to the server. */
export type Connection = ServerConnection<RedisClient>;

/** The way that the options say. */
export function connectionTo(server: Address | RedisClient, timeoutMs: number): Connection {
  return "call" in server ? borrow(server) : ownConnection(server, timeoutMs);
}

/** A connection to an address. The driver's own reconnecting and its queue of unsent commands are off. */
export function ownConnection(address: Address, timeoutMs: number): OwnConnection<Redis> {
  return new OwnConnection<Redis>(
    {
      connect: (onEnd, signal) => connect(address, timeoutMs, onEnd, signal),
      quit: (client) => client.quit(),
      cut: (client) => client.disconnect(),
    },
    timeoutMs,
  );
}

async function connect(address: Address, timeoutMs: number, onEnd: () => void, signal: AbortSignal): Promise<Redis> {
  const { database, isTls, ...server } = address;
  // Loaded here, because whoever passes a client in has a driver already.
  const { Redis } = await import("ioredis");
  signal.throwIfAborted();
  const client = new Redis({
    ...server,
    ...(isTls ? { tls: {} } : {}),
    lazyConnect: true,
    connectTimeout: timeoutMs,
    enableOfflineQueue: false,
    // It asks for INFO, which a user with few rights may not, and says so on the console.
    enableReadyCheck: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: () => null,
  });
  let problem: unknown;
  client.on("error", (error) => {
    problem = error;
  });
  client.on("close", onEnd);
  signal.addEventListener("abort", () => client.disconnect());
  try {
    await client.connect();
    if (database > 0) {
      // Left to the driver, a database that the server does not have would silently be database 0.
      await client.call("select", [database]);
    }
    return client;
  } catch (error) {
    client.disconnect();
    throw problem ?? error;
  }
}
