import { AgentFrameworkError, type ErrorCode, isAgentFrameworkError } from "@agentfw/core";
import { connectionFailure, systemCode } from "@agentfw/core/backend";
import { PROVIDER } from "./provider.ts";

/** What an error means to a caller. */
interface Meaning {
  readonly code: ErrorCode;
  readonly reason: string;
}

/** The first word of a server's answer. With each of these the server did nothing. */
const ANSWERS: ReadonlyMap<string, Meaning> = new Map([
  ["WRONGTYPE", { code: "corrupt", reason: "a key of another type stands where the store keeps its data" }],
  ["NOAUTH", { code: "unauthorized", reason: "the server asks for a password" }],
  ["WRONGPASS", { code: "unauthorized", reason: "the server refused the user name or password" }],
  ["NOPERM", { code: "unauthorized", reason: "the server's user may not do this" }],
  ["DENIED", { code: "unauthorized", reason: "the server takes connections from its own machine only" }],
  ["CROSSSLOT", { code: "configuration", reason: "the client's own key prefix must not hold braces" }],
  ["MOVED", { code: "configuration", reason: "the server is a node of a cluster; pass a Cluster as the client" }],
  ["ASK", { code: "configuration", reason: "the server is a node of a cluster; pass a Cluster as the client" }],
  ["LOADING", { code: "unavailable", reason: "the server is loading its data" }],
  ["READONLY", { code: "unavailable", reason: "the server is a replica and takes no writes" }],
  ["MASTERDOWN", { code: "unavailable", reason: "the replica has lost its master" }],
  ["NOREPLICAS", { code: "unavailable", reason: "too few replicas are connected for a write" }],
  ["CLUSTERDOWN", { code: "unavailable", reason: "the cluster does not serve this slot" }],
  ["TRYAGAIN", { code: "unavailable", reason: "the slot is being moved to another node" }],
  ["OOM", { code: "unavailable", reason: "the server's memory limit is reached" }],
  ["MISCONF", { code: "unavailable", reason: "the server cannot save to disk and takes no writes" }],
  ["BUSY", { code: "unavailable", reason: "the server is busy with a script" }],
  ["NOSCRIPT", { code: "unavailable", reason: "the server did not keep the script" }],
]);

/** Answers that begin with ERR, by what follows. */
const GENERIC_ANSWERS: readonly (readonly [RegExp, Meaning])[] = [
  [/invalid password|AUTH <password>/i, { code: "unauthorized", reason: "the server refused the password" }],
  [
    /ACL failure in script|user executing the script can't/i,
    { code: "unauthorized", reason: "the server's user may not do this" },
  ],
  [/max number of clients/i, { code: "unavailable", reason: "the server has too many connections" }],
  [/DB index is out of range/i, { code: "configuration", reason: "url: the server has no database of this number" }],
  [/SELECT is not allowed/i, { code: "configuration", reason: "url: a cluster has no database but 0" }],
  [
    /unknown command|unknown redis command|syntax error|wrong number of arguments/i,
    { code: "unsupported", reason: "the server does not know a command; Redis 7.0 or later is needed" },
  ],
];

/** Codes of a server that answers something else than TLS, or no version of it that both know. */
const NO_TLS = /^(?:ERR_SSL_|EPROTO$)/;

/** Messages of the driver about a connection that ended; what was under way may have been carried out. */
const LOST = /^Connection is closed|^Command aborted|^Socket timeout|^Reached the max retries per request/;

/** Messages of the driver about a command that it never sent. */
const UNSENT = /^Stream isn't writeable|^Failed to refresh slots cache|^None of startup nodes|^Cluster isn't ready/;

/** True for what the server itself said. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && error.name === "ReplyError";
}

/** True when the connection ended under a command. Whether the server carried it out is not known. */
export function isConnectionLost(error: unknown): boolean {
  return (
    ["ECONNRESET", "EPIPE", "ETIMEDOUT"].includes(systemCode(error) ?? "") || LOST.test(lastError(messageOf(error)))
  );
}

/** True when the driver refused to send because there is no connection. */
export function isUnsent(error: unknown): boolean {
  return UNSENT.test(messageOf(error));
}

/**
 * Turns what the driver threw into the error that callers see, with the driver's own as its `cause`. Errors of the
 * framework pass through as they are. What the caller's signal was aborted with must not come here: the driver calls
 * some errors of its own AbortError.
 *
 * @param kind A write whose connection ended is `outcome_unknown`, a read `unavailable`.
 */
export function toFrameworkError(error: unknown, operation: string, kind: "read" | "write"): AgentFrameworkError {
  if (isAgentFrameworkError(error)) {
    return error;
  }
  const { code, reason } = meaningOf(error, kind);
  const position = code === "corrupt" ? { position: "the type of a key" } : {};
  return new AgentFrameworkError(code, `${operation}: ${reason}`, { provider: PROVIDER, cause: error, ...position });
}

function meaningOf(error: unknown, kind: "read" | "write"): Meaning {
  const message = messageOf(error);
  const generic = GENERIC_ANSWERS.find(([pattern]) => message.startsWith("ERR") && pattern.test(message))?.[1];
  const known = ANSWERS.get(answerWord(error)) ?? generic ?? connectionFailure(error);
  if (known !== undefined) {
    return known;
  }
  if (error instanceof RedisProblem) {
    return { code: "unavailable", reason: error.message };
  }
  if (NO_TLS.test(systemCode(error) ?? "")) {
    return { code: "unavailable", reason: "the server and this side agree on no TLS" };
  }
  if (isUnsent(error)) {
    return { code: "unavailable", reason: "there is no connection" };
  }
  if (message === "Command timed out") {
    return { code: kind === "write" ? "outcome_unknown" : "timeout", reason: "the client's own time limit passed" };
  }
  if (isConnectionLost(error)) {
    return { code: kind === "write" ? "outcome_unknown" : "unavailable", reason: "the connection ended" };
  }
  return { code: "unavailable", reason: "the server or its client refused" };
}

/** The word that a server's answer begins with, also where Redis before 7 wraps what a command in a script said. */
export function answerWord(error: unknown): string {
  const message = messageOf(error);
  const inScript = /user_script:\d+: -?([A-Z]+) /.exec(message)?.[1];
  if (inScript !== undefined) {
    return inScript;
  }
  const last = lastError(message);
  const word = /^-?([A-Z]+)\b/.exec(last)?.[1] ?? "";
  // A cluster client that followed a moved slot in vain met a cluster at fault, not a caller.
  return last !== message && (word === "MOVED" || word === "ASK") ? "CLUSTERDOWN" : word;
}

/** What a cluster client gave up over. */
function lastError(message: string): string {
  return /^Too many Cluster redirections\. Last error: (?:\w*Error: )?(.*)/s.exec(message)?.[1] ?? message;
}

/** Someone else came first, or what a condition was about is not there. */
export function conflictError(message: string, currentVersion?: string): AgentFrameworkError {
  return new AgentFrameworkError("conflict", message, { provider: PROVIDER, currentVersion });
}

/** What this package itself notices about a connection; callers see it as a `cause`. */
export class RedisProblem extends Error {
  override readonly name: string = "RedisProblem";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
