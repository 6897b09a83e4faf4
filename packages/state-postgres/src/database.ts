import { isAgentFrameworkError, withDeadline } from "@agentfw/core";
import { type Answer, Calls } from "./calls.ts";
import { ClientConnection, type Connection, OwnConnection, PoolConnection } from "./connection.ts";
import type { CallLimits } from "./engine-loader.ts";
import { isMissing } from "./errors.ts";
import { Layout } from "./layout.ts";
import { type Names, namesIn } from "./names.ts";
import type { ResolvedConnection, Settings } from "./options.ts";
import { PROVIDER } from "./provider.ts";
import { Statements, type Template, withValues } from "./statements.ts";

/** What is asked of the database. */
export interface Question<Result> {
  /** Named in errors. */
  readonly name: string;
  /** A write whose answer is lost is `outcome_unknown`. */
  readonly kind: "read" | "write";
  /** True when the statement may be sent again although it may have been carried out. */
  readonly mayRepeat: boolean;
  readonly template: Template;
  readonly values: unknown[];
  readonly limits: CallLimits;
  /** What the answer says. @throws what the caller is told in its place */
  readonly read: (answer: Answer) => Result;
}

/** The connection, the tables and the statements of one store. */
export class Database {
  readonly names: Names;
  readonly statements: Statements;
  readonly layout: Layout;
  readonly #connection: Connection;
  readonly #calls: Calls;

  constructor(resolved: ResolvedConnection, settings: Settings) {
    this.#connection = connectionOf(resolved, settings.timeoutMs);
    this.#calls = new Calls(this.#connection);
    this.names = namesIn(settings.schema);
    this.statements = new Statements(this.names, settings.prepare);
    this.layout = new Layout(this.#calls, this.names, settings);
  }

  /** Runs one statement, once the tables are there. @throws errors of the framework, or the abort reason. */
  async run<Result>(question: Question<Result>): Promise<Result> {
    const { name, kind, mayRepeat, template, values, read } = question;
    const { signal } = question.limits;
    let { timeoutMs } = question.limits;
    if (!this.layout.isReady) {
      const start = performance.now();
      const deadline = { kind: "read", provider: PROVIDER, timeoutMs, signal } as const;
      await withDeadline(name, deadline, () => this.layout.ensure());
      timeoutMs = Math.max(1, timeoutMs - (performance.now() - start));
    }
    let answer: Answer;
    try {
      const statement = withValues(template, values);
      answer = await this.#calls.run({ name, kind, mayRepeat, signal, timeoutMs, statement });
    } catch (error) {
      if (isAgentFrameworkError(error) && isMissing(error.cause)) {
        this.layout.forget();
      }
      throw error;
    }
    return read(answer);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

function connectionOf(resolved: ResolvedConnection, timeoutMs: number): Connection {
  if ("pool" in resolved) {
    return new PoolConnection(resolved.pool);
  }
  return "client" in resolved ? new ClientConnection(resolved.client) : new OwnConnection(resolved.address, timeoutMs);
}
