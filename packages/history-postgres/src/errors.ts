import type { ErrorCode } from "@agentfw/core";
import { connectionFailure, type LeasedFailure, ProviderErrors, systemCode } from "@agentfw/core/backend";
import { PROVIDER } from "./provider.ts";

/** Without a fate, nothing was done, and the next try would be told the same. */
type Rule = readonly [said: RegExp, code: ErrorCode, reason: string, fate?: LeasedFailure["fate"]];

/** The errors that the store makes itself. */
export const errors: ProviderErrors = new ProviderErrors(PROVIDER);

/** What to do where the tables are missing. */
export const CREATE_ADVICE = "let the store create them, or apply schemaSql()";

/**
 * What the server or a pooler answered: SQLSTATE, a space, and the message. The first rule that fits counts. PgBouncer has
 * `08P01` for everything: what is not named here under that code, "server conn crashed?" for one, ends a connection while a
 * statement may be under way.
 */
const ANSWERS: readonly Rule[] = [
  [
    /^26000|^42P05|^08P01 .*prepared statement/,
    "configuration",
    "a pooler does not pass named statements on; set prepare: false, or update it",
  ],
  [
    /^53300|^57P05|^08P01 (query_wait_timeout|server login|no more connections|.*(cannot connect|connect failed|shutting down))/,
    "unavailable",
    "the server or a pooler has no connection free",
    "passing",
  ],
  [
    /^28|^08P01 ((password|SASL) authentication failed|empty password|no such user|role .* does not exist|login rejected)/,
    "unauthorized",
    "the user or the password was refused",
  ],
  [
    /^3D|^57P04|^08P01 (no such database|database .* does not exist)/,
    "configuration",
    "connectionString: there is no such database",
  ],
  [/^08P01 unsupported startup parameter/, "configuration", "the pooler does not take a setting of the connection"],
  [/^08|^57P0[1-3]/, "unavailable", "the connection ended", "lost"],
  [/^40(001|P01)/, "unavailable", "others changed the same data", "undone"],
  [/^40003/, "outcome_unknown", "the server does not know whether it was carried out"],
  [/^3F|^42P01|^42883/, "configuration", `the tables or functions are missing; ${CREATE_ADVICE}`],
  [/^22021|^22P05/, "configuration", "the database must have the encoding UTF8"],
  [/^22/, "configuration", "the database does not take the text"],
  [/^23505|^XX00[12]/, "corrupt", "what the server has stored is damaged"],
  [/^42501/, "unauthorized", "the user may not do this; verifySchema says what is lacking"],
  [/^42704/, "configuration", "the database's own rules ask for a setting, type or role that is not there"],
  [/^42939/, "configuration", "schema: the name is reserved"],
  [/^23|^42/, "configuration", "something of that name is not the store's; verifySchema says what"],
  [/^25006/, "unavailable", "the server takes no writes: it is a standby or read only"],
  [/^25P04|^57014/, "timeout", "the server's own time limit passed, or somebody canceled it"],
  [/^53/, "unavailable", "the server is out of memory, disk or other resources"],
  [/^54/, "too_large", "above a limit of the server"],
  [/^/, "unavailable", "the server refused"],
];

/** What the driver or this package said itself: its code, if any, a space, and the message. */
const FAILURES: readonly Rule[] = [
  [/Connection terminated due to connection timeout/, "unavailable", "the server did not answer", "lost"],
  [
    /^(ECONNRESET|EPIPE|ETIMEDOUT) |Connection terminated|a connection error|Query read timeout|write after end/,
    "unavailable",
    "the connection ended",
    "lost",
  ],
  [/timeout exceeded when trying to connect/, "unavailable", "no connection came free in time"],
  [
    /Cannot use a pool after calling end|Client was closed|PGlite is closed/i,
    "configuration",
    "the pool or client that was passed in is closed",
  ],
  [/SASL|password must be a string/, "unauthorized", "the password does not fit"],
  [/connect ENOENT/, "unavailable", "there is no such socket"],
  [/(ENOENT|EACCES|EISDIR): .*, (open|read)/, "configuration", "connectionString: a file that it names cannot be read"],
  [/does not support SSL/, "configuration", "connectionString: the server does not speak TLS"],
  [/^/, "unavailable", "the client failed", "unclear"],
];

/** The server's five characters; empty where an error is not the server's. */
export function sqlStateOf(error: unknown): string {
  const code = systemCode(error) ?? "";
  return /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : "";
}

/** True when tables or functions are not there. */
export function isMissing(error: unknown): boolean {
  return ["3F000", "42P01", "42883"].includes(sqlStateOf(error));
}

/** What the driver threw, as it is told and dealt with. */
export function failureOf(error: unknown): LeasedFailure {
  const failure = connectionFailure(error);
  if (failure !== undefined) {
    // A client that connects again by itself may have lost the statement with the connection before.
    const fate = failure.code === "configuration" ? "refused" : "unclear";
    return { ...failure, isAnswer: false, endsConnection: true, fate };
  }
  const state = sqlStateOf(error);
  const isAnswer = state !== "";
  const said = `${systemCode(error) ?? ""} ${error instanceof Error ? error.message : ""}`;
  const rule = (isAnswer ? ANSWERS : FAILURES).find(([pattern]) => pattern.test(said));
  const [, code = "unavailable", reason = "", fate = "refused"] = rule ?? [];
  const isFatal = Reflect.get(Object(error), "severity") === "FATAL";
  return {
    code,
    reason: isAnswer ? `${reason} (SQLSTATE ${state})` : reason,
    position: code === "corrupt" ? "the server's own storage" : undefined,
    isAnswer,
    endsConnection: !isAnswer || isFatal || fate === "passing" || fate === "lost",
    fate,
  };
}

/** What this package itself notices about a connection; callers see it as a `cause`. */
export class PostgresProblem extends Error {
  override readonly name: string = "PostgresProblem";
}
