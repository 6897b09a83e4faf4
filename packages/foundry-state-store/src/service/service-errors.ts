import type { AgentFrameworkError, ErrorCode } from "@agentfw/core";
import type { PipelineResponse } from "@azure/core-rest-pipeline";
import { stateError } from "../errors.ts";
import { REQUEST_IDS } from "../http/log-policy.ts";
import { isUnprocessed } from "../http/retry.ts";
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

  constructor({ status, headers, bodyAsText }: PipelineResponse) {
    super(`the service answered ${status}`);
    const { code, param } = errorOf(bodyAsText ?? "");
    this.name = "ServiceProblem";
    this.status = status;
    this.serviceCode = code;
    this.param = param;
    this.requestId = REQUEST_IDS.map((name) => headers.get(name)).find((id) => id !== undefined);
  }
}

/** What a status means where that does not depend on the operation. */
const MEANINGS: Readonly<Record<number, readonly [code: ErrorCode, reason: string]>> = {
  400: ["configuration", "the service refused the request"],
  401: ["unauthorized", "the service refused the token"],
  403: ["unauthorized", "the service does not allow this"],
  404: ["not_found", "there is no such store"],
  405: ["unsupported", "the service does not know this operation"],
  409: ["conflict", "it exists already"],
  412: ["conflict", "the etag does not match"],
  413: ["too_large", "too large for the service"],
  429: ["unavailable", "too many requests"],
  501: ["unsupported", "the service does not know this operation"],
};

/** The error that a caller sees for a reply that is no success, or for one whose body cannot be read. */
export function failureOf({ operation, method }: Asked, reply: PipelineResponse): AgentFrameworkError {
  const { status, headers } = reply;
  const cause = new ServiceProblem(reply);
  const [code, reason] = MEANINGS[status] ?? meaningOf(status);
  const isHarmless = code === "outcome_unknown" && (method === "GET" || isUnprocessed(reply));
  const field = status === 400 && cause.param !== undefined ? `${cause.param}: ` : "";
  const currentVersion = status === 412 ? headers.get("etag") : undefined;
  return stateError(isHarmless ? "unavailable" : code, `${operation}: ${field}${reason}`, { cause, currentVersion });
}

function meaningOf(status: number): readonly [code: ErrorCode, reason: string] {
  if (status < 300) {
    // Of a write nobody knows which etag it made.
    return ["outcome_unknown", "the answer cannot be read"];
  }
  const isFailure = status === 408 || status >= 500;
  return [isFailure ? "outcome_unknown" : "configuration", `the service answered ${status}`];
}

/** What was asked, as far as an error goes by it. */
export interface Asked {
  readonly operation: string;
  readonly method: string;
}
