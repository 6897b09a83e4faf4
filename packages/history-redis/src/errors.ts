import { AgentFrameworkError, type ErrorCode, isAgentFrameworkError } from "@agentfw/core";

/** How this package signs its errors. */
export const PROVIDER = "history-redis";

/** What an error means to a caller. */
interface Meaning {
  readonly code: ErrorCode;
  readonly reason: string;
}

/** The first word of a server's answer. In all of these nothing was written. */
const ANSWERS: Readonly<Record<string, Meaning>> = {
  READONLY: { code: "unavailable", reason: "the server is a replica and takes no writes" },
  LOADING: { code: "unavailable", reason: "the server is loading its data" },
  MASTERDOWN: { code: "unavailable", reason: "the replica has lost its master" },
  NOREPLICAS: { code: "unavailable", reason: "too few replicas are connected for a write" },
  CLUSTERDOWN: { code: "unavailable", reason: "the cluster does not serve this slot" },
  TRYAGAIN: { code: "unavailable", reason: "the slot is being moved to another node" },
  OOM: { code: "unavailable", reason: "the server's memory limit is reached" },
  MISCONF: { code: "unavailable", reason: "the server cannot save to disk and takes no writes" },
  BUSY: { code: "unavailable", reason: "the server is busy with a script" },
  NOSCRIPT: { code: "unavailable", reason: "the server did not keep the script" },
  UNBLOCKED: { code: "unavailable", reason: "the server changed its role" },
  MOVED: { code: "configuration", reason: "the server is a node of a cluster; pass a Cluster as the client" },
  ASK: { code: "configuration", reason: "the server is a node of a cluster; pass a Cluster as the client" },
  CROSSSLOT: { code: "configuration", reason: "the client's own key prefix must not hold braces" },
  NOAUTH: { code: "unauthorized", reason: "the server asks for a password" },
  WRONGPASS: { code: "unauthorized", reason: "the server refused the user name or password" },
  NOPERM: { code: "unauthorized", reason: "the server's user may not do this" },
  WRONGTYPE: { code: "corrupt", reason: "a key of another type stands where the store keeps its data" },
};

/** Answers that begin with ERR, by what follows. */
const GENERIC_ANSWERS: readonly (readonly [RegExp, Meaning])[] = [
  [/invalid password|AUTH <password>/i, { code: "unauthorized", reason: "the server refused the password" }],
  [/max number of clients/i, { code: "unavailable", reason: "the server has too many connections" }],
  [/DB index is out of range/i, { code: "configuration", reason: "url: the server has no database of this number" }],
  [/SELECT is not allowed/i, { code: "configuration", reason: "url: a cluster has no database but 0" }],
  [
    /unknown command|unknown redis command|syntax error|wrong number of arguments/i,
    { code: "unsupported", reason: "the server does not know a command; Redis 7.0 or later is needed" },
  ],
];

/** What the connection ran into before anything was sent. */
const NOT_SENT: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "the host name is not known",
  EAI_AGAIN: "the host name could not be looked up",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
};

/** Messages of the driver about a connection that ended; what was under way may have been carried out. */
const LOST = /^Connection is closed|^Command aborted|^Socket timeout|^Reached the max retries per request/;

/** Messages of the driver about a command that it never sent. */
const UNSENT = /^Stream isn't writeable|^Failed to refresh slots cache|^None of startup nodes|^Cluster isn't ready/;

/** True when the connection ended under a command. Whether the server carried it out is not known. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ECONNRESET" || code === "EPIPE" || code === "ETIMEDOUT" || LOST.test(messageOf(error));
}

/** True when the driver refused to send because there is no connection. */
export function isUnsent(error: unknown): boolean {
  return UNSENT.test(messageOf(error));
}

/**
 * Turns what the driver threw into the error that callers see, with the driver's own as its `cause`. Errors of the
 * framework pass through as they are.
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
  const answer = ANSWERS[answerWord(message)];
  if (answer !== undefined) {
    return answer;
  }
  const generic = GENERIC_ANSWERS.find(([pattern]) => message.startsWith("ERR") && pattern.test(message));
  if (generic !== undefined) {
    return generic[1];
  }
  const notSent = NOT_SENT[codeOf(error)] ?? (isUnsent(error) ? "there is no connection" : undefined);
  if (notSent !== undefined) {
    return { code: "unavailable", reason: notSent };
  }
  if (message === "Command timed out") {
    return { code: kind === "write" ? "outcome_unknown" : "timeout", reason: "the client's own time limit passed" };
  }
  if (isConnectionLost(error)) {
    return { code: kind === "write" ? "outcome_unknown" : "unavailable", reason: "the connection ended" };
  }
  return { code: "unavailable", reason: "the server or its client refused" };
}

/** `WRONGTYPE ...` as it is, and as Redis before 7 wraps it when it comes out of a script. */
function answerWord(message: string): string {
  const inScript = /user_script:\d+: -?([A-Z]+) /.exec(message)?.[1];
  return inScript ?? /^-?([A-Z]+)\b/.exec(lastError(message))?.[1] ?? "";
}

/** What a cluster client gave up over. Following a moved slot again and again is no mistake of the caller. */
function lastError(message: string): string {
  const last = /^Too many Cluster redirections\. Last error: (?:\w*Error: )?(.*)/s.exec(message)?.[1];
  return last?.replace(/^(?:MOVED|ASK)\b/, "CLUSTERDOWN") ?? message;
}

/** Stored data that cannot be read. The key goes to the cause only: it names the owner. */
export function corruptError(position: string, key: string): AgentFrameworkError {
  const cause = new RedisProblem(`an element of ${key} is no record: ${position}`);
  return new AgentFrameworkError("corrupt", `read: a stored record cannot be read (${position})`, {
    provider: PROVIDER,
    position,
    cause,
  });
}

/** Someone else came first, or what was named is not stored any more. */
export function conflictError(message: string, currentVersion?: string): AgentFrameworkError {
  return new AgentFrameworkError("conflict", message, { provider: PROVIDER, currentVersion });
}

/** What this package itself notices about a connection or a key; callers see it as a `cause`. */
export class RedisProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = "RedisProblem";
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}
