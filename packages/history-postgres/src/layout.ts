import { AgentFrameworkError, configurationError, isAgentFrameworkError } from "@agentfw/core";
import type { Calls } from "./calls.ts";
import type { PostgresStatement } from "./client.ts";
import type { Row } from "./connection.ts";
import { isMissing, PROVIDER, unexpectedAnswer } from "./errors.ts";
import { LAYOUT, type Names } from "./names.ts";
import type { Settings } from "./options.ts";
import { migrationStatement } from "./schema.ts";
import { schemaProblem, verificationStatement } from "./shape.ts";

/** How long creating the tables may take, waiting for other processes that do included. */
const MIGRATION_TIMEOUT_MS = 60_000;

/** The tables and functions: asked for once by each store, and created where that is wanted. */
export class Layout {
  readonly #calls: Calls;
  readonly #names: Names;
  readonly #settings: Settings;
  #ready: Promise<void> | undefined;
  #isReady = false;

  constructor(calls: Calls, names: Names, settings: Settings) {
    this.#calls = calls;
    this.#names = names;
    this.#settings = settings;
  }

  /** True when everything was there when it was asked for last. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Resolves when everything is there. What fails is not remembered: the next call tries again. */
  ensure(): Promise<void> {
    this.#ready ??= this.#prepare().then(
      () => {
        this.#isReady = true;
      },
      (error) => {
        this.forget();
        throw error;
      },
    );
    return this.#ready;
  }

  /** The next call asks again. */
  forget(): void {
    this.#ready = undefined;
    this.#isReady = false;
  }

  /** @throws `configuration` or `unauthorized` naming what is missing or different. */
  async verify(signal: AbortSignal | undefined): Promise<void> {
    const { timeoutMs } = this.#settings;
    const missing = await this.#missing(signal);
    if (missing !== undefined) {
      throw missing;
    }
    const [row] = await this.#run("verifySchema", verificationStatement(this.#names), timeoutMs, signal);
    if (row === undefined) {
      throw unexpectedAnswer("verifySchema");
    }
    const problem = schemaProblem(row, this.#names);
    if (problem !== undefined) {
      throw new AgentFrameworkError(problem.code, `verifySchema: ${problem.text}`, { provider: PROVIDER });
    }
  }

  async #prepare(): Promise<void> {
    const { autoMigrate, schema, partitions } = this.#settings;
    const missing = await this.#missing(undefined);
    if (missing === undefined) {
      return;
    }
    if (!autoMigrate) {
      throw missing;
    }
    await this.#run("creating the tables", migrationStatement(schema, partitions), MIGRATION_TIMEOUT_MS, undefined);
  }

  /** Asks, in one cheap statement, and gives the error that says that there is nothing, if so. */
  async #missing(signal: AbortSignal | undefined): Promise<AgentFrameworkError | undefined> {
    const text = `SELECT max(version)::text FROM ${this.#names.layout}`;
    try {
      const [row] = await this.#run("looking for the tables", text, this.#settings.timeoutMs, signal);
      const version = Number(row?.[0] ?? 0);
      if (version > LAYOUT) {
        throw new AgentFrameworkError("unsupported", `the tables have layout ${version}, which is a later version's`, {
          provider: PROVIDER,
        });
      }
      return version > 0 ? undefined : configurationError("schema", "the table of the layout's version is empty");
    } catch (error) {
      if (isAgentFrameworkError(error) && isMissing(error.cause)) {
        return error;
      }
      throw error;
    }
  }

  async #run(name: string, text: string, timeoutMs: number, signal: AbortSignal | undefined): Promise<readonly Row[]> {
    // Nothing that it creates can be created twice, so a lost answer is asked for again like a read.
    const statement: PostgresStatement = { text, values: [], rowMode: "array" };
    const { rows } = await this.#calls.run({ name, kind: "read", statement, signal, timeoutMs });
    return rows;
  }
}
