import type { HistoryList, HistoryPage, ReadOptions } from "@agentfw/core";
import type { Answer } from "./calls.ts";
import { Database } from "./database.ts";
import type { CallLimits } from "./engine-loader.ts";
import { type ListTask, listOf, listStatement } from "./listing.ts";
import type { ResolvedConnection, Settings } from "./options.ts";
import { pageOf } from "./reading.ts";
import type { RemovedConversations } from "./removing.ts";
import type { Template } from "./statements.ts";
import { appendedOf, removedOf, replacedOf } from "./write-replies.ts";

/**
 * All that a store does with the database and its answers, loaded on demand and as one part: once it is there, nothing is
 * left to load. `values` are a function's parameters in their order, checked.
 */
export class Engine {
  readonly #database: Database;

  constructor(resolved: ResolvedConnection, settings: Settings) {
    this.#database = new Database(resolved, settings);
  }

  append(values: unknown[], limits: CallLimits): Promise<{ version: string; appended: number }> {
    const template = this.#database.statements.append;
    const read = appendedOf;
    return this.#database.run({ name: "append", kind: "write", mayRepeat: true, template, values, limits, read });
  }

  /** @param options What the page is made by, besides the values. */
  read(values: unknown[], options: ReadOptions, limits: CallLimits): Promise<HistoryPage> {
    const template = this.#database.statements.read;
    const read = ({ rows }: Answer) => pageOf(rows, options);
    return this.#database.run({ name: "read", kind: "read", mayRepeat: true, template, values, limits, read });
  }

  clear(values: unknown[], limits: CallLimits): Promise<void> {
    const template = this.#database.statements.remove;
    const read = () => {};
    return this.#database.run({ name: "clear", kind: "write", mayRepeat: false, template, values, limits, read });
  }

  replace(values: unknown[], mayRepeat: boolean, limits: CallLimits): Promise<{ version: string }> {
    const template = this.#database.statements.replace;
    return this.#database.run({
      name: "replace",
      kind: "write",
      mayRepeat,
      template,
      values,
      limits,
      read: replacedOf,
    });
  }

  list(task: ListTask, limits: CallLimits): Promise<HistoryList> {
    const { text, values } = listStatement(this.#database.names, task);
    const read = ({ rows }: Answer) => listOf(rows, task.limit);
    return this.#database.run({
      name: "list",
      kind: "read",
      mayRepeat: true,
      template: { text },
      values,
      limits,
      read,
    });
  }

  /** Deletes one batch. */
  erase(values: unknown[], limits: CallLimits): Promise<RemovedConversations> {
    return this.#removeBatch("erase", this.#database.statements.erase, values, limits);
  }

  /** Deletes one batch. */
  deleteExpired(values: unknown[], limits: CallLimits): Promise<RemovedConversations> {
    return this.#removeBatch("deleteExpired", this.#database.statements.expire, values, limits);
  }

  verifySchema(signal: AbortSignal | undefined): Promise<void> {
    return this.#database.layout.verify(signal);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #removeBatch(name: string, template: Template, values: unknown[], limits: CallLimits): Promise<RemovedConversations> {
    const read = (answer: Answer) => removedOf(name, answer);
    return this.#database.run({ name, kind: "write", mayRepeat: true, template, values, limits, read });
  }
}
