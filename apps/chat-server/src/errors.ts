import { type ErrorCode, isAgentFrameworkError } from "@agentfw/core";
import type { FastifyBaseLogger } from "fastify";

/** An answer that is an error, as `application/problem+json` (RFC 9457). Its text may be shown to anybody. */
export class HttpProblem extends Error {
  override readonly name = "HttpProblem";
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    options: ErrorOptions & { retryAfterSeconds?: number } = {},
  ) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Also for the chat of somebody else: whether it exists is not for others to know. */
export function noSuchChat(): HttpProblem {
  return new HttpProblem(404, "not_found", "There is no such chat.");
}

type Verdict = readonly [status: number, text: string, retryAfterSeconds?: number];

/** What the framework's codes mean to a client. Texts of our own: what an error says is for the log. */
const BY_CODE: Readonly<Record<ErrorCode, Verdict>> = {
  conflict: [409, "Somebody else wrote to this chat at the same time. Send the request again under the same key.", 1],
  unavailable: [503, "The service cannot be reached for now; nothing was lost. Send the request again.", 2],
  timeout: [504, "The service did not answer in time. Send the request again under the same key.", 2],
  // The write may have happened. Message ids derive from the key, so that a repetition stores nothing twice.
  outcome_unknown: [503, "Whether it was stored is not known. Send the request again under the same key.", 1],
  too_large: [413, "The message, or the conversation, is too large."],
  not_found: [404, "There is nothing of that name."],
  // The rest is nothing that a client could mend.
  configuration: [500, "The service is not set up properly."],
  unauthorized: [500, "The service is not set up properly."],
  unsupported: [500, "The service is not set up properly."],
  corrupt: [500, "What is stored cannot be read. It was left as it is."],
};

/** An error as a client is told of it. */
export function problemOf(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) {
    return error;
  }
  if (isAgentFrameworkError(error)) {
    const [status, text, retryAfterSeconds] = BY_CODE[error.code];
    // A model service that does not know its own address is not a chat that is not there.
    const isModelSetup = error.provider === "openai" && (status === 500 || status === 404);
    return isModelSetup
      ? new HttpProblem(502, "model", "The model service refused the request.", { cause: error })
      : new HttpProblem(status, error.code, text, {
          cause: error,
          ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
        });
  }
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return new HttpProblem(504, "timeout", BY_CODE.timeout[1], { cause: error, retryAfterSeconds: 2 });
  }
  // Fastify's own: a body that is no JSON, is too large, or does not fit its schema.
  if (
    error instanceof Error &&
    "statusCode" in error &&
    typeof error.statusCode === "number" &&
    error.statusCode < 500
  ) {
    return new HttpProblem(error.statusCode, "bad_request", error.message);
  }
  return new HttpProblem(500, "internal", "Something went wrong.", { cause: error });
}

/** Logs why a request failed, as an error only where it is one of ours. Gives what the client is told. */
export function logFailure(log: FastifyBaseLogger, error: unknown): HttpProblem {
  const problem = problemOf(error);
  const entry = { error: logged(problem) };
  if (problem.status >= 500) {
    log.error(entry, "failed");
  } else {
    log.info(entry, "refused");
  }
  return problem;
}

/** What the log gets of an error: who noticed what. Never a text, a name, an address with credentials. */
export function logged(error: unknown): Record<string, unknown> {
  if (error instanceof HttpProblem) {
    return { code: error.code, ...(error.cause === undefined ? {} : { cause: logged(error.cause) }) };
  }
  if (isAgentFrameworkError(error)) {
    const { code, provider, message, position, cause } = error;
    return { code, provider, message, position, ...(cause === undefined ? {} : { cause: namesOf(cause) }) };
  }
  return error instanceof Error ? { ...namesOf(error), stack: error.stack } : { name: typeof error };
}

/** Of a driver's error, whose message may quote what was sent, only what kind it is. */
function namesOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) {
    return { name: typeof error };
  }
  return { name: error.name, code: "code" in error ? error.code : undefined };
}

/** The body of an answer that is an error. */
export function problemBody({ status, code, message }: HttpProblem): Record<string, unknown> {
  return { status, code, detail: message };
}
