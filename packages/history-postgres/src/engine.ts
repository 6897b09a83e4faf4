import type { HistoryList, HistoryPage, ReadOptions } from "@agentfw/core";
import type { CallLimits } from "@agentfw/core/backend";
import type { PostgresStatement } from "./client.ts";
import { type Answer, type Connection, connectionOf, type Row } from "./connection.ts";
import { Layout } from "./layout.ts";
import { type ListTask, listOf, listStatement } from "./listing.ts";
import type { Names } from "./names.ts";
import type { ResolvedConnection, Settings } from "./options.ts";
import { pageOf } from "./reading.ts";
import type { RemovedConversations } from "./removing.ts";
import { type FixedCall, statementsOn, type Template } from "./statements.ts";
import type { StoreSchema } from "./store-schema.ts";
import { appendedOf, removedOf, replacedOf } from "./write-replies.ts";

/** Loads what the engine needs besides. Connects at the first call. */
export async function openEngine(
  resolved: ResolvedConnection,
  settings: Settings,
  schema: StoreSchema,
): Promise<Engine> {
  return new Engine(await connectionOf(resolved, settings.timeoutMs), settings, schema);
}

/**
 * All that a store does with the database and its answers, loaded on demand and as one part: once it is there, nothing is
 * left to load. `values` are a function's parameters in their order, checked.
 */
export class Engine {
  readonly #names: Names;
  readonly #statements: Readonly<Record<FixedCall, Template>>;
  readonly #connection: Connection;
  readonly #layout: Layout;

  constructor(connection: Connection, settings: Settings, schema: StoreSchema) {
    this.#names = schema.names;
    this.#statements = statementsOn(schema.names, settings.prepare);
    this.#connection = connection;
    this.#layout = new Layout(connection, schema, settings);
  }

  async append(values: unknown[], limits: CallLimits): Promise<{ version: string; appended: number }> {
    return appendedOf(await this.#write("append", values, limits));
  }

  /** @param options What the page is made by, besides the values. */
  async read(values: unknown[], options: ReadOptions, limits: CallLimits): Promise<HistoryPage> {
    const statement: PostgresStatement = { ...this.#statements.read, values, rowMode: "array" };
    return pageOf(await this.#rows("read", statement, limits), options);
  }

  async clear(values: unknown[], limits: CallLimits): Promise<void> {
    await this.#write("clear", values, limits, false);
  }

  async replace(values: unknown[], mayRepeat: boolean, limits: CallLimits): Promise<{ version: string }> {
    return replacedOf(await this.#write("replace", values, limits, mayRepeat));
  }

  async list(task: ListTask, limits: CallLimits): Promise<HistoryList> {
    return listOf(await this.#rows("list", listStatement(this.#names, task), limits), task.limit);
  }

  /** Deletes one batch. */
  async removeBatch(
    name: "erase" | "deleteExpired",
    values: unknown[],
    limits: CallLimits,
  ): Promise<RemovedConversations> {
    return removedOf(name, await this.#write(name, values, limits));
  }

  verifySchema(signal: AbortSignal | undefined): Promise<void> {
    return this.#layout.verify(signal);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #write(name: FixedCall, values: unknown[], limits: CallLimits, mayRepeat = true): Promise<Answer> {
    const statement: PostgresStatement = { ...this.#statements[name], values, rowMode: "array" };
    return this.#layout.run({ name, kind: "write", mayRepeat, request: statement, limits });
  }

  async #rows(name: string, statement: PostgresStatement, limits: CallLimits): Promise<readonly Row[]> {
    return (await this.#layout.run({ name, kind: "read", mayRepeat: true, request: statement, limits })).reply;
  }
}
