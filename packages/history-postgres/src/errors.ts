import { AgentFrameworkError, type ErrorCode, isAgentFrameworkError } from "@agentfw/core";
import { connectionFailure, systemCode } from "@agentfw/core/backend";
import { PROVIDER } from "./provider.ts";
import { SQLSTATES } from "./sqlstates.ts";

/** What an error means to a caller. */
export interface Meaning {
  readonly code: ErrorCode;
  readonly reason: string;
}

/**
 * What PgBouncer says before a statement has a server, under the code that it has for everything. All else under that
 * code, "server conn crashed?" for one, ends a connection while a statement may be under way.
 */
const POOLER_WAITS =
  /^query_wait_timeout|^server login|cannot connect|connect failed|^no more connections|shutting down/;

/** What PgBouncer says under that code to a client that it does not let in, or cannot bring to a server. */
const POOLER_REFUSES: readonly (readonly [RegExp, Meaning])[] = [
  [
    /^(password|SASL) authentication failed|^empty password|^no such user|^role .* does not exist|^login rejected/,
    { code: "unauthorized", reason: "the pooler or the server refused the user or the password" },
  ],
  [
    /^no such database|^database .* does not exist/,
    { code: "configuration", reason: "connectionString: there is no such database" },
  ],
  [
    /^unsupported startup parameter/,
    { code: "configuration", reason: "the pooler does not take a setting that the client connects with" },
  ],
];

/** Messages of the driver about a connection that ended; what was under way may have been carried out. */
const LOST = /^Connection terminated|^Client has encountered a connection error|^Query read timeout|^write after end/;

/** Messages of drivers that have no code. */
const MESSAGES: readonly (readonly [RegExp, Meaning])[] = [
  [/^timeout exceeded when trying to connect/, { code: "unavailable", reason: "no connection came free in time" }],
  [/^Connection terminated due to connection timeout/, { code: "unavailable", reason: "the server did not answer" }],
  [/^Cannot use a pool after calling end/, { code: "configuration", reason: "the pool that was passed in has ended" }],
  [
    /^Client was closed|PGlite is closed/i,
    { code: "configuration", reason: "the client that was passed in is closed" },
  ],
  [
    /^SASL|password must be a string/,
    { code: "unauthorized", reason: "the server and the client disagree on the password" },
  ],
  [/^connect ENOENT/, { code: "unavailable", reason: "there is no such socket" }],
  [
    /^(ENOENT|EACCES|EISDIR): .*, (open|read)/,
    { code: "configuration", reason: "connectionString: a file that it names cannot be read" },
  ],
  [/does not support SSL/, { code: "configuration", reason: "connectionString: the server does not speak TLS" }],
];

const POOLER_ADVICE = "a pooler does not pass named statements on; set prepare: false, or update it";

/** The server's five characters; empty where an error is not the server's. */
export function sqlStateOf(error: unknown): string {
  const code = systemCode(error) ?? "";
  return /^[0-9A-Z]{5}$/.test(code) && !code.startsWith("E") ? code : "";
}

/** True when the connection ended under a statement. Whether the server carried it out is not known. */
export function isConnectionLost(error: unknown): boolean {
  const code = systemCode(error);
  const isCut = code === "ECONNRESET" || code === "EPIPE" || code === "ETIMEDOUT";
  const isAnswer = isUnprepared(error) || isTransient(error) || poolerRefusal(error) !== undefined;
  const isEnd = /^57P0[1-3]$|^08/.test(sqlStateOf(error)) && !isAnswer;
  return isCut || isEnd || LOST.test(messageOf(error));
}

/**
 * True for an answer that may soon be another one, and did nothing: too many connections, a session that the server had
 * ended for being idle, a pooler that has no connection.
 */
export function isTransient(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === "53300" || state === "57P05" || (state === "08P01" && POOLER_WAITS.test(messageOf(error)));
}

/** True when the connection is of no more use: it ended, or ends with this answer. */
export function isConnectionOver(error: unknown): boolean {
  const isFatal = typeof error === "object" && error !== null && "severity" in error && error.severity === "FATAL";
  return sqlStateOf(error) === "" || isFatal || isTransient(error) || isConnectionLost(error);
}

/** What a driver says that has no code of the server's. */
function driverMeaning(error: unknown): Meaning | undefined {
  return MESSAGES.find(([pattern]) => sqlStateOf(error) === "" && pattern.test(messageOf(error)))?.[1];
}

/** What a pooler's refusal of a client means, before any statement was taken. */
function poolerRefusal(error: unknown): Meaning | undefined {
  const refusal = POOLER_REFUSES.find(([pattern]) => sqlStateOf(error) === "08P01" && pattern.test(messageOf(error)));
  return refusal?.[1];
}

/** True when a pooler gave the statement to a server that does not know its name, or knows it already. */
function isUnprepared(error: unknown): boolean {
  const state = sqlStateOf(error);
  const isOfPooler = state === "08P01" && messageOf(error).includes("prepared statement");
  return state === "26000" || state === "42P05" || isOfPooler;
}

/** True when the server may have carried the statement out all the same. */
export function isOutcomeOpen(error: unknown): boolean {
  // A client that connects again by itself may have lost the statement with the connection before.
  const isUntrusted = connectionFailure(error)?.code === "configuration";
  const isKnown = sqlStateOf(error) !== "" || isUntrusted || driverMeaning(error) !== undefined;
  return isConnectionLost(error) || !isKnown;
}

/** True when the server undid the statement over what others did at the same time. */
export function isUndone(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === "40001" || state === "40P01";
}

/** True when the tables or functions are not there. */
export function isMissing(error: unknown): boolean {
  return ["3F000", "42P01", "42883"].includes(sqlStateOf(error));
}

/**
 * Turns what the driver threw into the error that callers see, with the driver's own as its `cause`. Errors of the
 * framework pass through as they are. For a write whose outcome is not open: see {@link isOutcomeOpen}.
 */
export function toFrameworkError(error: unknown, operation: string): AgentFrameworkError {
  if (isAgentFrameworkError(error)) {
    return error;
  }
  const { code, reason } = meaningOf(error);
  const position = code === "corrupt" ? { position: "the server's own storage" } : {};
  return new AgentFrameworkError(code, `${operation}: ${reason}`, { provider: PROVIDER, cause: error, ...position });
}

function meaningOf(error: unknown): Meaning {
  if (isUnprepared(error)) {
    return { code: "configuration", reason: `prepare: ${POOLER_ADVICE}` };
  }
  const known = connectionFailure(error) ?? driverMeaning(error) ?? poolerRefusal(error);
  if (known !== undefined) {
    return known;
  }
  if (isConnectionLost(error)) {
    return { code: "unavailable", reason: "the connection ended" };
  }
  const state = sqlStateOf(error);
  return SQLSTATES[state] ?? SQLSTATES[state.slice(0, 2)] ?? { code: "unavailable", reason: "the server refused" };
}

/** Someone else came first, or what a condition was about is not there. */
export function conflictError(message: string, currentVersion?: string): AgentFrameworkError {
  return new AgentFrameworkError("conflict", message, { provider: PROVIDER, currentVersion });
}

/** An answer that no function of ours gives. */
export function unexpectedAnswer(operation: string): AgentFrameworkError {
  const message = `${operation}: the database answered something that this version does not know`;
  return new AgentFrameworkError("unsupported", message, { provider: PROVIDER });
}

/** What this package itself notices about a connection; callers see it as a `cause`. */
export class PostgresProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PostgresProblem";
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
