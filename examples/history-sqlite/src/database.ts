import { statSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { AgentFrameworkError, configurationError } from "@agentfw/core";
import { type Client, createClient, type InStatement, type ResultSet, type Transaction } from "@libsql/client";
import { isBusy, PROVIDER, toFrameworkError } from "./errors.ts";
import { hasLayout, prepareLayout } from "./layout.ts";
import type { Settings } from "./options.ts";

/** The one file that was opened: another file under the same path is another database. */
interface OpenFile {
  readonly client: Client;
  readonly path: string;
  readonly identity: string;
}

/** A database file: opened by the first call, and again after an outage. Waits for other writers without blocking. */
export class Database {
  readonly #settings: Settings;
  #open: OpenFile | undefined;
  #opening: Promise<OpenFile> | undefined;
  /** Which file it was that was open last. */
  #known: string | undefined;
  #closed = false;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** One statement, which sees one state of the database. */
  async read(operation: string, statement: InStatement, signal: AbortSignal | undefined): Promise<ResultSet> {
    this.#assertOpen();
    return this.#untilFree(operation, this.#deadline(), signal, async (client) => {
      try {
        return await client.execute(statement);
      } catch (error) {
        throw isBusy(error) ? error : toFrameworkError(error, operation, "read");
      }
    });
  }

  /** A transaction that holds the write lock from its beginning; writes of this process come one after the other. */
  async write<T>(
    operation: string,
    signal: AbortSignal | undefined,
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    this.#assertOpen();
    const deadline = this.#deadline();
    const turn = this.#queue.then(() =>
      this.#untilFree(operation, deadline, signal, (client) => inTransaction(client, operation, work)),
    );
    this.#queue = turn.then(nextTurn, nextTurn);
    return turn;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#queue;
    await this.#opening?.catch(() => undefined);
    this.#drop();
  }

  /** @throws `unavailable` when others kept writing for `timeoutMs`; the reason of an abort before anything was done. */
  async #untilFree<T>(
    operation: string,
    deadline: number,
    signal: AbortSignal | undefined,
    attempt: (client: Client) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      signal?.throwIfAborted();
      try {
        return await attempt(await this.#client(operation));
      } catch (error) {
        if (!isBusy(error)) {
          throw error;
        }
        if (performance.now() >= deadline) {
          throw unavailable(`${operation}: others kept the database locked`, error);
        }
      }
      await sleep(1 + Math.random() * 20);
    }
  }

  /** Counted from the call, also for what waits for its turn. */
  #deadline(): number {
    return performance.now() + this.#settings.timeoutMs;
  }

  async #client(operation: string): Promise<Client> {
    if (this.#open !== undefined && identify(this.#open.path) !== this.#open.identity) {
      // What is open now is a file that nobody else finds any more; what is written to it would be lost.
      this.#drop();
    }
    if (this.#open === undefined) {
      // Calls at once open it once; that it failed is not remembered.
      this.#opening ??= this.#openFile(operation).finally(() => {
        this.#opening = undefined;
      });
      this.#open = await this.#opening;
    }
    return this.#open.client;
  }

  async #openFile(operation: string): Promise<OpenFile> {
    const { client: given, path } = this.#settings;
    if (this.#known !== undefined && path !== undefined && identify(path) === undefined) {
      // The driver would make it anew, and all conversations would read as empty.
      throw unavailable("the database file is gone");
    }
    let client: Client | undefined = given;
    try {
      client ??= createClient({ url: pathToFileURL(path ?? "").href });
      const file = await fileOf(client);
      const identity = identify(file);
      if (identity === undefined) {
        throw unavailable("the database file is gone");
      }
      if (given !== undefined && this.#known !== undefined && this.#known !== identity) {
        throw unavailable("the client that was passed in has another file open than the one that is there");
      }
      await client.executeMultiple("PRAGMA journal_mode = WAL");
      if (!(await hasLayout(client))) {
        await inTransaction(client, operation, prepareLayout);
      }
      this.#known = identity;
      return { client, path: file, identity };
    } catch (error) {
      if (given === undefined) {
        client?.close();
      }
      throw isBusy(error) ? error : toFrameworkError(error, operation, "read");
    }
  }

  #assertOpen(): void {
    if (this.#closed) {
      throw configurationError("store", "must not be closed");
    }
  }

  #drop(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined && this.#settings.client === undefined) {
      open.client.close();
    }
  }
}

/** @throws what `isBusy` knows, when nothing was done; else what callers see. */
async function inTransaction<T>(
  client: Client,
  operation: string,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const transaction = await client.transaction("deferred");
  let result: T;
  try {
    // Not `transaction("write")`: in libsql 0.5 a BEGIN that finds the lock taken stays in progress, and every later
    // COMMIT on its connection fails. https://github.com/tursodatabase/libsql-client-ts/issues/352
    await transaction.executeMultiple("ROLLBACK; BEGIN IMMEDIATE");
    result = await work(transaction);
  } catch (error) {
    transaction.close();
    throw isBusy(error) ? error : toFrameworkError(error, operation, "read");
  }
  try {
    await transaction.commit();
  } catch (error) {
    throw isBusy(error) ? error : toFrameworkError(error, operation, "write");
  }
  return result;
}

function unavailable(message: string, cause?: unknown): AgentFrameworkError {
  return new AgentFrameworkError("unavailable", message, { provider: PROVIDER, cause });
}

/** The file that a client has open. */
async function fileOf(client: Client): Promise<string> {
  const { rows } = await client.execute("PRAGMA database_list");
  const file = rows[0]?.["file"];
  if (typeof file !== "string" || file === "") {
    throw configurationError("client", "must be one of a file; for a store in memory there is InMemoryHistoryStore");
  }
  return file;
}

function identify(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
