import type { HistoryStore } from "@agentfw/core";
import { BlobHistoryStore } from "@agentfw/history-blob";
import { FileHistoryStore } from "@agentfw/history-file";
import { PostgresHistoryStore } from "@agentfw/history-postgres";
import { RedisHistoryStore } from "@agentfw/history-redis";

/** What a soak can run on: backends on which processes can share conversations. */
export type SoakBackend = "file" | "redis" | "postgres" | "blob";

/** Where a soak keeps its conversations. Processes are told as JSON. */
export interface Place {
  readonly backend: SoakBackend;
  /** A directory, a URL or a connection string. */
  readonly address: string;
  /** What keeps this soak apart from others on the same server. */
  readonly name: string;
}

interface Kind {
  open(place: Place, timeoutMs: number): HistoryStore;
  /** The part of the address that says which host and port; undefined for what is in this very machine. */
  serverUrl(address: string): string | undefined;
}

const KINDS: Readonly<Record<SoakBackend, Kind>> = {
  file: {
    open: ({ address }, timeoutMs) => new FileHistoryStore({ directory: address, fsync: false, timeoutMs }),
    serverUrl: () => undefined,
  },
  redis: {
    open: ({ address, name }, timeoutMs) => new RedisHistoryStore({ url: address }, { keyPrefix: name, timeoutMs }),
    serverUrl: (address) => address,
  },
  postgres: {
    open: ({ address, name }, timeoutMs) =>
      new PostgresHistoryStore({ connectionString: address }, { schema: name, timeoutMs }),
    serverUrl: (address) => address,
  },
  blob: {
    open: ({ address, name }, timeoutMs) =>
      new BlobHistoryStore(
        { connectionString: address, containerName: "soak" },
        { prefix: name, createContainer: true, timeoutMs },
      ),
    serverUrl: (address) => /BlobEndpoint=([^;]+)/.exec(address)?.[1],
  },
};

export const SOAK_BACKENDS: readonly string[] = Object.keys(KINDS);

export function isSoakBackend(name: string): name is SoakBackend {
  return Object.hasOwn(KINDS, name);
}

/** A store of one process. */
export function openPlace(place: Place, timeoutMs: number): HistoryStore {
  return KINDS[place.backend].open(place, timeoutMs);
}

/** Where the place's server listens; undefined without one. */
export function serverOf({ backend, address }: Place): { readonly host: string; readonly port: number } | undefined {
  const text = KINDS[backend].serverUrl(address);
  if (text === undefined) {
    return undefined;
  }
  const { hostname, port } = new URL(text);
  return { host: hostname, port: Number(port) };
}

/** The same place, reached by another port of this machine. */
export function behindPort(place: Place, port: number): Place {
  const text = KINDS[place.backend].serverUrl(place.address) ?? "";
  const { host } = new URL(text);
  return { ...place, address: place.address.replace(host, `127.0.0.1:${port}`) };
}
