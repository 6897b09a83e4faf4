import { AgentFrameworkError, configurationError, isAgentFrameworkError } from "@agentfw/core";
import { type CallLimits, LeasedCalls } from "@agentfw/core/backend";
import type { PostgresStatement } from "./client.ts";
import type { Answer, Call, Connection, Row } from "./connection.ts";
import { CREATE_ADVICE, errors, failureOf, isMissing } from "./errors.ts";
import type { Settings } from "./options.ts";
import { PROVIDER } from "./provider.ts";
import type { StoreSchema } from "./store-schema.ts";

/** How long creating the tables may take, waiting for other processes that do included. */
const MIGRATION_TIMEOUT_MS = 60_000;

/** The tables and functions: asked for once by each store, and created where that is wanted. */
export class Layout {
  readonly #calls: LeasedCalls<PostgresStatement, readonly Row[]>;
  readonly #schema: StoreSchema;
  readonly #settings: Settings;
  #ready: Promise<void> | undefined;

  constructor(connection: Connection, schema: StoreSchema, settings: Settings) {
    this.#calls = new LeasedCalls(PROVIDER, connection, failureOf);
    this.#schema = schema;
    this.#settings = settings;
  }

  /**
   * Runs one statement, once the tables are there. Where it fails because they are not, the next one asks for them again.
   *
   * @throws errors of the framework, or the abort reason.
   */
  async run(call: Call, limits: CallLimits): Promise<Answer> {
    try {
      return await this.#calls.run(call, limits, () => this.#ensure());
    } catch (error) {
      if (isAgentFrameworkError(error) && isMissing(error.cause)) {
        this.#ready = undefined;
      }
      throw error;
    }
  }

  /** Ends the connections that the store made, behind the calls that were made before. */
  close(): Promise<void> {
    return this.#calls.close(this.#settings.timeoutMs);
  }

  /** @throws `configuration` or `unauthorized` naming what is missing or different. */
  async verify(signal: AbortSignal | undefined): Promise<void> {
    const missing = await this.#missing(signal);
    if (missing !== undefined) {
      throw missing;
    }
    const row = await this.#ask("verifySchema", this.#schema.verification(), signal);
    if (row === undefined) {
      throw errors.unexpectedAnswer("verifySchema");
    }
    const [problem, refusal] = row;
    const text = problem ?? refusal ?? null;
    if (text !== null) {
      const code = problem === null ? "unauthorized" : "configuration";
      throw new AgentFrameworkError(code, `verifySchema: ${text}`, { provider: PROVIDER });
    }
  }

  /** Resolves when everything is there. What fails is not remembered: the next call tries again. */
  #ensure(): Promise<void> {
    this.#ready ??= this.#prepare().catch((error) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
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
    await this.#ask("creating the tables", this.#schema.migration(), undefined, MIGRATION_TIMEOUT_MS);
  }

  /**
   * Gives the error that says that there is nothing, if so. Asks whether the table is there before it looks into it: what
   * fails in the server would undo a transaction of the client's owner.
   */
  async #missing(signal: AbortSignal | undefined): Promise<AgentFrameworkError | undefined> {
    const { findLayout, readLayout, layout } = this.#schema;
    const ask = async (text: string) => (await this.#ask("looking for the tables", text, signal))?.[0] ?? undefined;
    const version = (await ask(findLayout)) === undefined ? 0 : Number((await ask(readLayout)) ?? 0);
    if (version > layout) {
      throw new AgentFrameworkError("unsupported", `the tables have layout ${version}, which is a later version's`, {
        provider: PROVIDER,
      });
    }
    return version > 0 ? undefined : configurationError("schema", `the tables are not all there; ${CREATE_ADVICE}`);
  }

  /** The first row of the answer. Nothing that it creates can be created twice, so a lost answer is asked for again like a read. */
  async #ask(name: string, text: string, signal: AbortSignal | undefined, timeoutMs = this.#settings.timeoutMs) {
    const request: PostgresStatement = { text, values: [], rowMode: "array" };
    const { reply } = await this.#calls.run({ name, kind: "read", mayRepeat: true, request }, { timeoutMs, signal });
    return reply[0];
  }
}
