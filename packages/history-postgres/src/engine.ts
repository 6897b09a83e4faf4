import {
  type HistoryList,
  type HistoryPage,
  isAgentFrameworkError,
  type ReadOptions,
  withDeadline,
} from "@agentfw/core";
import type { CallLimits } from "@agentfw/core/backend";
import { type Answer, type Call, Calls } from "./calls.ts";
import { type Connection, connectionOf } from "./connection.ts";
import { isMissing } from "./errors.ts";
import { Layout } from "./layout.ts";
import { type ListTask, listOf, listStatement } from "./listing.ts";
import { type Names, namesIn } from "./names.ts";
import type { ResolvedConnection, Settings } from "./options.ts";
import { PROVIDER } from "./provider.ts";
import { pageOf } from "./reading.ts";
import type { RemovedConversations } from "./removing.ts";
import { Statements, withValues } from "./statements.ts";
import { appendedOf, removedOf, replacedOf } from "./write-replies.ts";

/**
 * All that a store does with the database and its answers, loaded on demand and as one part: once it is there, nothing is
 * left to load. `values` are a function's parameters in their order, checked.
 */
export class Engine {
  readonly #names: Names;
  readonly #statements: Statements;
  readonly #connection: Connection;
  readonly #calls: Calls;
  readonly #layout: Layout;

  constructor(resolved: ResolvedConnection, settings: Settings) {
    this.#names = namesIn(settings.schema);
    this.#statements = new Statements(this.#names, settings.prepare);
    this.#connection = connectionOf(resolved, settings.timeoutMs);
    this.#calls = new Calls(this.#connection);
    this.#layout = new Layout(this.#calls, this.#names, settings);
  }

  append(values: unknown[], limits: CallLimits): Promise<{ version: string; appended: number }> {
    const statement = withValues(this.#statements.append, values);
    return this.#run({ name: "append", kind: "write", mayRepeat: true, statement, limits }, appendedOf);
  }

  /** @param options What the page is made by, besides the values. */
  read(values: unknown[], options: ReadOptions, limits: CallLimits): Promise<HistoryPage> {
    const statement = withValues(this.#statements.read, values);
    return this.#run({ name: "read", kind: "read", mayRepeat: true, statement, limits }, ({ rows }) =>
      pageOf(rows, options),
    );
  }

  clear(values: unknown[], limits: CallLimits): Promise<void> {
    const statement = withValues(this.#statements.remove, values);
    return this.#run({ name: "clear", kind: "write", mayRepeat: false, statement, limits }, () => {});
  }

  replace(values: unknown[], mayRepeat: boolean, limits: CallLimits): Promise<{ version: string }> {
    const statement = withValues(this.#statements.replace, values);
    return this.#run({ name: "replace", kind: "write", mayRepeat, statement, limits }, replacedOf);
  }

  list(task: ListTask, limits: CallLimits): Promise<HistoryList> {
    const statement = listStatement(this.#names, task);
    return this.#run({ name: "list", kind: "read", mayRepeat: true, statement, limits }, ({ rows }) =>
      listOf(rows, task.limit),
    );
  }

  /** Deletes one batch. */
  removeBatch(name: "erase" | "deleteExpired", values: unknown[], limits: CallLimits): Promise<RemovedConversations> {
    const statement = withValues(this.#statements[name], values);
    return this.#run({ name, kind: "write", mayRepeat: true, statement, limits }, (answer) => removedOf(name, answer));
  }

  verifySchema(signal: AbortSignal | undefined): Promise<void> {
    return this.#layout.verify(signal);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /**
   * Runs one statement, once the tables are there.
   *
   * @param read What the answer says, or throws.
   * @throws errors of the framework, or the abort reason.
   */
  async #run<Result>(call: Call, read: (answer: Answer) => Result): Promise<Result> {
    const prepared = this.#layout.isReady ? call : await this.#whenReady(call);
    let answer: Answer;
    try {
      answer = await this.#calls.run(prepared);
    } catch (error) {
      if (isAgentFrameworkError(error) && isMissing(error.cause)) {
        this.#layout.forget();
      }
      throw error;
    }
    return read(answer);
  }

  /** Waits for the tables. Gives the call with what is left of its time. */
  async #whenReady(call: Call): Promise<Call> {
    const { timeoutMs, signal } = call.limits;
    const start = performance.now();
    const deadline = { kind: "read", provider: PROVIDER, timeoutMs, signal } as const;
    await withDeadline(call.name, deadline, () => this.#layout.ensure());
    return { ...call, limits: { timeoutMs: Math.max(1, timeoutMs - (performance.now() - start)), signal } };
  }
}
