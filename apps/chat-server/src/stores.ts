import type { CallOptions, HistoryStore, StateStore } from "@agentfw/core";

/** Which database keeps the chats. */
export type BackendName = "postgres" | "redis";

/** All that the server keeps, in one database. Replicas that are given the same address serve the same chats. */
export interface Stores {
  /** The messages. */
  readonly history: HistoryStore;
  /** The sessions. */
  readonly state: StateStore;
  /** Removes everything of one owner. May be repeated when it failed. */
  erase(owner: string, options: CallOptions): Promise<void>;
  close(): Promise<void>;
}

/** Opens the stores. Connects to nothing: a database that is away shows at the first call, and may come back. */
export async function openStores(backend: BackendName, url: string): Promise<Stores> {
  // Loaded when it is chosen, so that the driver of the other costs nothing.
  return backend === "postgres" ? openPostgres(url) : openRedis(url);
}

async function openPostgres(url: string): Promise<Stores> {
  const { PostgresHistoryStore } = await import("@agentfw/history-postgres");
  const { PostgresStateStore } = await import("@agentfw/state-postgres");
  const connection = { connectionString: url, maxConnections: 5 };
  const options = { schema: "agentfw_chat" };
  const history = new PostgresHistoryStore(connection, options);
  const state = new PostgresStateStore(connection, options);
  return {
    history,
    state,
    erase: async (owner, { signal }) => {
      await state.erase({ owner }, { signal });
      await history.erase({ owner }, { signal });
    },
    close: async () => void (await Promise.all([history.close(), state.close()])),
  };
}

async function openRedis(url: string): Promise<Stores> {
  const { RedisHistoryStore } = await import("@agentfw/history-redis");
  const { RedisStateStore } = await import("@agentfw/state-redis");
  const options = { keyPrefix: "agentfw-chat" };
  const history = new RedisHistoryStore({ url }, options);
  const state = new RedisStateStore({ url }, options);
  return {
    history,
    state,
    erase: async (owner, { signal }) => {
      for await (const key of pages(async (cursor) => {
        const page = await state.listKeys({ owner, cursor, signal });
        return { items: page.keys, cursor: page.cursor };
      })) {
        await state.delete(key.key, { owner, signal });
      }
      for await (const { key } of pages((cursor) => history.list({ owner }, { cursor, signal }))) {
        await history.clear(key, { signal });
      }
    },
    close: async () => void (await Promise.all([history.close(), state.close()])),
  };
}

async function* pages<T>(
  next: (cursor: string | undefined) => Promise<{ readonly items: readonly T[]; readonly cursor?: string | undefined }>,
): AsyncGenerator<T, void> {
  let cursor: string | undefined;
  do {
    const page = await next(cursor);
    yield* page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
