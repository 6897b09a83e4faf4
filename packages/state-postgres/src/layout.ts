import { AgentFrameworkError, configurationError } from "@agentfw/core";
import type { Calls } from "./calls.ts";
import type { PostgresStatement } from "./client.ts";
import type { Row } from "./connection.ts";
import { unexpectedAnswer } from "./errors.ts";
import { migrationStatement } from "./migration.ts";
import { LAYOUT, type Names, quotedText } from "./names.ts";
import type { Settings } from "./options.ts";
import { PROVIDER } from "./provider.ts";
import { CREATE_ADVICE } from "./sqlstates.ts";
import { schemaProblem, verificationStatement } from "./verification.ts";

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
    const { autoMigrate } = this.#settings;
    const missing = await this.#missing(undefined);
    if (missing === undefined) {
      return;
    }
    if (!autoMigrate) {
      throw missing;
    }
    await this.#run("creating the tables", migrationStatement(this.#settings), MIGRATION_TIMEOUT_MS, undefined);
  }

  /**
   * Gives the error that says that there is nothing, if so. Asks whether the table is there before it looks into it: what
   * fails in the server would undo a transaction of the client's owner.
   */
  async #missing(signal: AbortSignal | undefined): Promise<AgentFrameworkError | undefined> {
    const { layout } = this.#names;
    const ask = async (text: string) => {
      const [row] = await this.#run("looking for the tables", text, this.#settings.timeoutMs, signal);
      return row?.[0] ?? undefined;
    };
    if ((await ask(`SELECT to_regclass(${quotedText(layout)})::text AS layout`)) === undefined) {
      return configurationError("schema", `the tables are not there; ${CREATE_ADVICE}`);
    }
    const version = Number((await ask(`SELECT max(version)::text AS version FROM ${layout}`)) ?? 0);
    if (version > LAYOUT) {
      throw new AgentFrameworkError("unsupported", `the tables have layout ${version}, which is a later version's`, {
        provider: PROVIDER,
      });
    }
    return version > 0 ? undefined : configurationError("schema", `the tables have no version; ${CREATE_ADVICE}`);
  }

  async #run(name: string, text: string, timeoutMs: number, signal: AbortSignal | undefined): Promise<readonly Row[]> {
    // Nothing that it creates can be created twice, so a lost answer is asked for again like a read.
    const statement: PostgresStatement = { text, values: [], rowMode: "array" };
    const limits = { timeoutMs, signal };
    const { rows } = await this.#calls.run({ name, kind: "read", mayRepeat: true, statement, limits });
    return rows;
  }
}
