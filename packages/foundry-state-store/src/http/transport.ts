import { type AgentFrameworkError, isAgentFrameworkError, withDeadline } from "@agentfw/core";
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
import { PROVIDER, stateError } from "../errors.ts";
import { type CallState, trackCall } from "./call-state.ts";
import { isUnprocessed } from "./retry.ts";

/** One request. */
export interface HttpCall {
  /** Named in errors. */
  readonly operation: string;
  readonly kind: "read" | "write";
  readonly method: HttpMethods;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** When the operation must settle, on the clock of `performance.now()`. */
  readonly endsAt: number;
}

/** What came back. */
export interface HttpReply {
  readonly status: number;
  readonly etag: string | undefined;
  readonly text: string;
  /** For errors: which request it was, in the service's own logs. */
  readonly requestId: string | undefined;
  /** True when the service says that it did nothing, and may do it later. */
  readonly isUnprocessed: boolean;
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
 * Sends requests through a pipeline. Each settles by its deadline, whatever the credential or the network do, and fails
 * with an error that tells whether anything may have been done.
 */
export class Transport {
  readonly #pipeline: Pipeline;
  readonly #client: HttpClient;

  constructor(pipeline: Pipeline, client: HttpClient) {
    this.#pipeline = pipeline;
    this.#client = client;
  }

  /** @throws `unavailable`, `timeout`, `outcome_unknown`, `unauthorized` by the credential, or the abort reason */
  async send(call: HttpCall): Promise<HttpReply> {
    const { operation, kind, signal, endsAt } = call;
    const state: CallState = { kind, endsAt, mayHaveRun: false, problem: undefined };
    const giveUp = new AbortController();
    // What a late write means is decided below: this cannot know whether it was sent.
    const timeoutMs = Math.max(1, endsAt - performance.now());
    try {
      return await withDeadline(operation, { kind: "read", provider: PROVIDER, timeoutMs, signal }, () =>
        this.#send(call, state, giveUp.signal),
      );
    } catch (error) {
      throw explain(error, call, state);
    } finally {
      giveUp.abort();
    }
  }

  async #send(call: HttpCall, state: CallState, abortSignal: AbortSignal): Promise<HttpReply> {
    const { method, url, headers, body } = call;
    const request = createPipelineRequest({
      method,
      url,
      abortSignal,
      headers: createHttpHeaders(headers),
      allowInsecureConnection: url.startsWith("http:"),
      ...(body === undefined ? {} : { body }),
    });
    trackCall(request, state);
    return replyOf(await this.#pipeline.sendRequest(this.#client, request));
  }
}

function replyOf(response: PipelineResponse): HttpReply {
  const { status, headers, bodyAsText } = response;
  return {
    status,
    etag: headers.get("etag"),
    text: bodyAsText ?? "",
    requestId: headers.get("x-request-id") ?? headers.get("apim-request-id") ?? headers.get("x-ms-request-id"),
    isUnprocessed: isUnprocessed(response),
  };
}

function explain(error: unknown, { operation, kind, signal }: HttpCall, state: CallState): unknown {
  const isAbort = signal?.aborted === true && error === signal.reason;
  const isOpen = kind === "write" && state.mayHaveRun;
  if (isAbort) {
    return isOpen ? unknownOutcome(operation, "aborted before the answer came", error) : error;
  }
  if (isAgentFrameworkError(error, "timeout")) {
    const cause = problemOf(state.problem);
    return isOpen
      ? unknownOutcome(operation, "no answer came in time", cause)
      : stateError("timeout", `${operation}: no answer came in time`, { cause });
  }
  if (isAgentFrameworkError(error)) {
    return error;
  }
  const failure = isRestError(error) ? connectionFailure(error) : undefined;
  const cause = problemOf(error);
  if (isOpen && failure === undefined) {
    return unknownOutcome(operation, "the connection ended before the answer came", cause);
  }
  const reason = failure?.reason ?? "the service cannot be reached";
  return stateError(failure?.code ?? "unavailable", `${operation}: ${reason}`, { cause });
}

/** A write that may have been carried out. */
export function unknownOutcome(operation: string, reason: string, cause: unknown): AgentFrameworkError {
  return stateError("outcome_unknown", `${operation}: ${reason}`, { cause });
}

/** The library's error holds the request with its token and its URL; what a person needs to know is less. */
function problemOf(error: unknown): TransportProblem | undefined {
  if (error === undefined) {
    return undefined;
  }
  const code = isRestError(error) ? error.code : undefined;
  const message = error instanceof Error ? error.message : "the request failed";
  return new TransportProblem(message, code);
}
