import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { HistoryStore } from "@agentfw/core";
import type { HookReasons, OpenedHistoryStore, OpenOptions } from "@agentfw/provider-testing";
import { type Client, createClient } from "@libsql/client";
import { SqliteHistoryStore, type SqliteHistoryStoreOptions } from "../src/index.ts";

/** What the store is called in reports. */
export const name = "agentfw-history-sqlite";

const inProcess = "the engine runs in the process: there is no connection between a call and its answer";

/** Why a hook is missing below, by its name. A call waits for locks only, which has a test of its own. */
export const cannot: HookReasons = {
  stallBackend: inProcess,
  loseNextReply: inProcess,
  loseNextRequest: inProcess,
  duplicateNextRequest: inProcess,
};

/** Opens a store on a file of its own. */
export async function openHistoryStore(options: OpenOptions = {}): Promise<OpenedHistoryStore> {
  return openWith(options, (settings) => new SqliteHistoryStore(settings));
}

/** Opens whatever `make` makes, on a file of its own. */
export async function openWith(
  options: OpenOptions,
  make: (settings: SqliteHistoryStoreOptions & { readonly path: string }) => HistoryStore | Promise<HistoryStore>,
): Promise<OpenedHistoryStore> {
  const root = mkdtempSync(join(tmpdir(), "history-sqlite-"));
  const folder = join(root, "data");
  mkdirSync(folder);
  const path = join(folder, "history.db");
  let passed = 0;
  const now = (): number => Date.now() + passed;
  const opened: { close?(): unknown }[] = [];
  const keep = <T extends { close?(): unknown }>(value: T): T => {
    opened.push(value);
    return value;
  };
  const open = async (): Promise<HistoryStore> => keep(await make({ ...options, path, now }));
  return {
    store: await open(),
    another: open,
    advanceTime: (milliseconds) => {
      passed += milliseconds;
    },
    // A file that was moved alone could be made anew where it was; without the folder nothing can.
    breakBackend: async () => renameSync(folder, `${folder}.away`),
    healBackend: async () => renameSync(`${folder}.away`, folder),
    corrupt: async ({ owner, source, session }, position) =>
      outside(path, async (client) => {
        await client.execute({
          sql: `UPDATE agentfw_records SET data = '{"cut' WHERE number = (
            SELECT number FROM agentfw_records WHERE conversation = (
              SELECT number FROM agentfw_conversations WHERE owner = ? AND source = ? AND session = ?)
            ORDER BY position LIMIT 1 OFFSET ?)`,
          args: [JSON.stringify(owner), JSON.stringify(source), JSON.stringify(session), position],
        });
      }),
    sharedClient: async () => {
      const client = keep(openClient(path));
      return {
        store: keep(new SqliteHistoryStore({ client, now })),
        isClientOpen: async () => {
          await client.execute("SELECT 1");
          return !client.closed;
        },
      };
    },
    close: async () => {
      for (const each of opened.reverse()) {
        await each.close?.();
      }
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A client of the file that is no store. */
export function openClient(path: string): Client {
  return createClient({ url: pathToFileURL(path).href });
}

/** Does something to the file from outside. */
export async function outside(path: string, use: (client: Client) => Promise<void>): Promise<void> {
  const client = openClient(path);
  try {
    await use(client);
  } finally {
    client.close();
  }
}
