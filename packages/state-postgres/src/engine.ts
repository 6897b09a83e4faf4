import { isAgentFrameworkError, type StateItem, type StateKey, withDeadline } from "@agentfw/core";
import type { CallLimits } from "@agentfw/core/backend";
import { type Answer, type Call, Calls } from "./calls.ts";
import { type Connection, connectionOf } from "./connection.ts";
import { isMissing } from "./errors.ts";
import { Layout } from "./layout.ts";
import { pageOf } from "./listing.ts";
import { namesIn } from "./names.ts";
import type { ResolvedConnection, Settings } from "./options.ts";
import { PROVIDER } from "./provider.ts";
import { itemOf } from "./reading.ts";
import type { RemovedItems } from "./removing.ts";
import { Statements, withValues } from "./statements.ts";
import { assertStored, deletedOf, removedOf } from "./write-replies.ts";

/** An item to be written. */
export interface ItemWrite {
  readonly operation: "create" | "set";
  readonly match: string | null;
  readonly values: unknown[];
}

/**
 * All that a store does with the database and its answers, loaded on demand and as one part: once it is there, nothing is
 * left to load. `values` are a statement's parameters in their order, checked; `match` is the etag to match among them.
 */
export class Engine {
  readonly #statements: Statements;
  readonly #connection: Connection;
  readonly #calls: Calls;
  readonly #layout: Layout;

  constructor(resolved: ResolvedConnection, settings: Settings) {
    const names = namesIn(settings.schema);
    this.#statements = new Statements(names, settings.prepare);
    this.#connection = connectionOf(resolved, settings.timeoutMs);
    this.#calls = new Calls(this.#connection);
    this.#layout = new Layout(this.#calls, names, settings);
  }

  put({ operation, match, values }: ItemWrite, limits: CallLimits): Promise<void> {
    const statement = withValues(this.#statements.put, values);
    const mayRepeat = isExact(match);
    return this.#run({ name: operation, kind: "write", mayRepeat, statement, limits }, (answer) =>
      assertStored(operation, answer),
    );
  }

  get(key: string, values: unknown[], limits: CallLimits): Promise<StateItem | undefined> {
    const statement = withValues(this.#statements.get, values);
    return this.#run({ name: "get", kind: "read", mayRepeat: true, statement, limits }, ({ rows }) =>
      itemOf(key, rows),
    );
  }

  delete(match: string | null, values: unknown[], limits: CallLimits): Promise<boolean> {
    const statement = withValues(this.#statements.remove, values);
    const mayRepeat = isExact(match);
    return this.#run({ name: "delete", kind: "write", mayRepeat, statement, limits }, (answer) =>
      deletedOf(match !== null, answer),
    );
  }

  listKeys(limit: number, values: unknown[], limits: CallLimits): Promise<{ keys: StateKey[]; cursor?: string }> {
    const statement = withValues(this.#statements.list, values);
    return this.#run({ name: "listKeys", kind: "read", mayRepeat: true, statement, limits }, ({ rows }) =>
      pageOf(rows, limit),
    );
  }

  /** Deletes one batch. */
  removeBatch(name: "erase" | "deleteExpired", values: unknown[], limits: CallLimits): Promise<RemovedItems> {
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

/** Without an etag to match, a write that is sent again could undo what somebody did in between. */
function isExact(match: string | null): boolean {
  return match !== null && match !== "*";
}
