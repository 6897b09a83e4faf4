import { isAgentFrameworkError, withDeadline } from "@agentfw/core";
import { connectionFailure } from "@agentfw/core/backend";
import {
  createHttpHeaders,
  createPipelineRequest,
  type HttpClient,
  type HttpMethods,
  isRestError,
  type Pipeline,
  type PipelineResponse,
} from "@azure/core-rest-pipeline";
import { type CallState, trackCall } from "./call-state.ts";
import { failed } from "./failed.ts";

/** One request. */
export interface HttpCall {
  /** Named in errors. */
  readonly operation: string;
  readonly method: HttpMethods;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** When the operation must settle, on the clock of `performance.now()`. */
  readonly endsAt: number;
}

/** What the network ran into; callers see it as a `cause`. It holds no URL and no header. */
export class TransportProblem extends Error {
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined) {
    super(message);
    this.name = "TransportProblem";
    this.code = code;
  }
}

/**
 * Sends a request through a pipeline. It settles by its deadline, whatever the credential or the network do, and fails
 * with an error that tells whether anything may have been done.
 *
 * @throws `unavailable`, `timeout`, `outcome_unknown`, `unauthorized` by the credential, or the abort reason
 */
export async function sendInTime(pipeline: Pipeline, client: HttpClient, call: HttpCall): Promise<PipelineResponse> {
  const { operation, method, url, headers, body, signal, endsAt } = call;
  const state: CallState = { isRead: method === "GET", endsAt, mayHaveRun: false, problem: undefined };
  const giveUp = new AbortController();
  const request = createPipelineRequest({
    method,
    url,
    abortSignal: giveUp.signal,
    headers: createHttpHeaders(headers),
    allowInsecureConnection: url.startsWith("http:"),
    ...(body === undefined ? {} : { body }),
  });
  trackCall(request, state);
  // What a late write means is decided below: this cannot know whether it was sent.
  const limits = { kind: "read", timeoutMs: Math.max(1, endsAt - performance.now()), signal } as const;
  try {
    return await withDeadline(operation, limits, () => pipeline.sendRequest(client, request));
  } catch (error) {
    throw explain(error, call, state);
  } finally {
    giveUp.abort();
  }
}

function explain(error: unknown, { operation, signal }: HttpCall, { isRead, mayHaveRun, problem }: CallState): unknown {
  const isOpen = mayHaveRun && !isRead;
  if (signal?.aborted === true && error === signal.reason) {
    return isOpen ? failed(operation, "outcome_unknown", "aborted before the answer came", error) : error;
  }
  if (isAgentFrameworkError(error, "timeout")) {
    return failed(operation, isOpen ? "outcome_unknown" : "timeout", "no answer came in time", problemOf(problem));
  }
  if (isAgentFrameworkError(error)) {
    return error;
  }
  const failure = connectionFailure(error);
  const cause = problemOf(error);
  return failure === undefined && isOpen
    ? failed(operation, "outcome_unknown", "the connection ended before the answer came", cause)
    : failed(operation, failure?.code ?? "unavailable", failure?.reason ?? "the service cannot be reached", cause);
}

/** The library's error holds the request with its token and its URL; what a person needs to know is less. */
function problemOf(error: unknown): TransportProblem | undefined {
  if (error === undefined) {
    return undefined;
  }
  const message = error instanceof Error ? error.message : "the request failed";
  return new TransportProblem(message, isRestError(error) ? error.code : undefined);
}
