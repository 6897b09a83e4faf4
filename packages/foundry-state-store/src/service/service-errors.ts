import type { AgentFrameworkError, ErrorCode } from "@agentfw/core";
import { stateError } from "../errors.ts";
import { type HttpReply, unknownOutcome } from "../http/transport.ts";
import { errorOf } from "./wire.ts";

/**
 * What the service answered, without what it said: its message may repeat a value. Callers see it as a `cause`; the request
 * id is what the service's operators ask for.
 */
export class ServiceProblem extends Error {
  readonly status: number;
  /** The service's own code. It is not documented: nothing should go by it. */
  readonly serviceCode: string | undefined;
  /** With 400: the field that was refused. */
  readonly param: string | undefined;
  readonly requestId: string | undefined;

  constructor(reply: HttpReply) {
    super(`the service answered ${reply.status}`);
    const { code, param } = errorOf(reply.text);
    this.name = "ServiceProblem";
    this.status = reply.status;
    this.serviceCode = code;
    this.param = param;
    this.requestId = reply.requestId;
  }
}

/** What each status means, where that does not depend on the operation. */
const MEANINGS: Readonly<Record<number, { readonly code: ErrorCode; readonly reason: string }>> = {
  400: { code: "configuration", reason: "the service refused the request" },
  401: { code: "unauthorized", reason: "the service refused the token" },
  403: { code: "unauthorized", reason: "the service does not allow this" },
  404: { code: "not_found", reason: "there is no such store" },
  405: { code: "unsupported", reason: "the service does not know this operation" },
  409: { code: "conflict", reason: "it exists already" },
  412: { code: "conflict", reason: "the etag does not match" },
  413: { code: "too_large", reason: "too large for the service" },
  429: { code: "unavailable", reason: "too many requests" },
  501: { code: "unsupported", reason: "the service does not know this operation" },
};

/** The error that a caller sees for a reply that is no success. */
export function failureOf(operation: string, kind: "read" | "write", reply: HttpReply): AgentFrameworkError {
  const { status, etag, isUnprocessed } = reply;
  const cause = new ServiceProblem(reply);
  const known = MEANINGS[status];
  if (known !== undefined) {
    const field = status === 400 && cause.param !== undefined ? `${cause.param}: ` : "";
    const currentVersion = status === 412 ? etag : undefined;
    return stateError(known.code, `${operation}: ${field}${known.reason}`, { cause, currentVersion });
  }
  if (status === 408 || status >= 500) {
    return kind === "write" && !isUnprocessed
      ? unknownOutcome(operation, `the service failed with ${status}`, cause)
      : stateError("unavailable", `${operation}: the service failed with ${status}`, { cause });
  }
  return stateError("configuration", `${operation}: the service answered ${status}`, { cause });
}

/** A success whose body cannot be read: a read has failed, and of a write nobody knows which etag it made. */
export function unreadable(operation: string, kind: "read" | "write", reply: HttpReply): AgentFrameworkError {
  const reason = "the answer cannot be read";
  const cause = new ServiceProblem(reply);
  return kind === "write"
    ? unknownOutcome(operation, reason, cause)
    : stateError("unavailable", `${operation}: ${reason}`, { cause });
}
