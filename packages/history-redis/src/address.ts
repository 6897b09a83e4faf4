import { configurationError } from "@agentfw/core";
import { assertOptions } from "@agentfw/core/backend";
import type { RedisClient } from "./client.ts";

/** Where the server is: an address that the store connects to itself, or a client that the caller keeps. */
export type RedisConnection =
  | {
      /** `redis://` or `rediss://` with host and, where needed, user, password, port and database. One node. */
      readonly url: string;
      readonly client?: undefined;
    }
  | {
      /** A client for one node, Sentinel or a cluster. `close()` leaves it open. */
      readonly client: RedisClient;
      readonly url?: undefined;
    };

/** A server's address, taken apart. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** Empty for none, as the password. */
  readonly username: string;
  readonly password: string;
  readonly database: number;
  readonly isTls: boolean;
}

/**
 * Checks where the server is. Connects to nothing.
 *
 * @throws `configuration`, without the address in its message, because that may hold a password.
 */
export function resolveConnection(connection: RedisConnection): Address | RedisClient {
  assertOptions(connection, "connection", ["url", "client"]);
  const { url, client } = connection;
  if ((url === undefined) === (client === undefined)) {
    throw configurationError("connection", "must have either a url or a client");
  }
  if (client === undefined) {
    return parseAddress(url);
  }
  const { call, on = call } = Object(client);
  if (typeof client !== "object" || typeof call !== "function" || typeof on !== "function") {
    throw configurationError("client", "must have a call method, and an on method or none, as those of ioredis do");
  }
  return client;
}

function parseAddress(text: unknown): Address {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  const { protocol = "", hostname = "", pathname = "", search, hash } = url ?? {};
  const [, database] = /^\/?(\d{0,5})$/.exec(pathname) ?? [];
  if (
    url === undefined ||
    !/^rediss?:$/.test(protocol) ||
    hostname === "" ||
    database === undefined ||
    search ||
    hash
  ) {
    throw configurationError(
      "url",
      "must be redis://host or rediss://host, and behind it only a port and a database number; pass a client for more",
    );
  }
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 6379),
    username: credential(url.username),
    password: credential(url.password),
    database: Number(database),
    isTls: protocol === "rediss:",
  };
}

function credential(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw configurationError("url", "must have its user name and password percent-encoded");
  }
}

/** @throws `configuration` */
export function assertKeyPrefix(value: unknown): asserts value is string {
  if (typeof value !== "string" || !/^[^\s{}\p{Cc}\p{Cs}]{1,200}$/u.test(value)) {
    throw configurationError("keyPrefix", "must be 1 to 200 characters without spaces, control characters and braces");
  }
}
