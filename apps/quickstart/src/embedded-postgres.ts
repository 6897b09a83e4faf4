import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { PostgresClient } from "@agentfw/history-postgres";
import { ExplainedError } from "./errors.ts";
import { lockFolder } from "./folder-lock.ts";
import { loadPGlite } from "./pglite.ts";
import { complain } from "./terminal.ts";

/** A PostgreSQL that runs inside of this process. */
export interface EmbeddedPostgres extends PostgresClient {
  /** Lets go of the folder, for the next process. */
  close(): Promise<void>;
}

/**
 * Starts PGlite on a folder, which is made if it is not there, and keeps other processes from it: two at once would
 * destroy what is in it, and PGlite itself lets them.
 *
 * @throws ExplainedError when another process has the folder, or when it holds no database.
 */
export async function openEmbeddedPostgres(folder: string): Promise<EmbeddedPostgres> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new ExplainedError(`${dirname(folder)} cannot be made`, { cause });
  });
  const unlock = await lockFolder(folder);
  try {
    const { PGlite } = await loadPGlite();
    const start = (path: string) => PGlite.create(path);
    if (!existsSync(folder)) {
      complain(`Making a database in ${folder} (some seconds, once) …`);
      await make(folder, start);
    }
    const database = await start(folder);
    const query: PostgresClient["query"] = (text, values) => database.query(text, values);
    const close = () => database.close().finally(unlock);
    return { query, close };
  } catch (error) {
    await unlock();
    if (error instanceof ExplainedError) {
      throw error;
    }
    // What PGlite throws is not always an error with a message.
    const cause = error instanceof Error ? error : undefined;
    throw new ExplainedError(`PostgreSQL cannot be started in ${folder}; is it a database?`, { cause });
  }
}

/** Beside its place, and moved there when it is whole: half of a database can never be started. */
async function make(folder: string, start: (path: string) => Promise<{ close(): Promise<void> }>): Promise<void> {
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await (await start(unfinished)).close();
  await rename(unfinished, folder);
}
