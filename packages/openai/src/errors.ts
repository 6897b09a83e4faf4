import { AgentFrameworkError, type ErrorCode, isAgentFrameworkError, isPlainObject } from "@agentfw/core";
import { APIConnectionTimeoutError } from "openai";

/** Named in every error of this package. */
export const PROVIDER = "openai";

type Verdict = readonly [code: ErrorCode, text: string];

/** What a status means when the service gives no code that says more. */
const BY_STATUS: ReadonlyMap<number, Verdict> = new Map<number, Verdict>([
  [400, ["configuration", "the service refused the request"]],
  [401, ["unauthorized", "the service refused the credentials"]],
  [402, ["unavailable", "the account has no credit left"]],
  [403, ["unauthorized", "the credentials do not allow this request"]],
  [404, ["not_found", "the service does not know this address or what the request names"]],
  [408, ["timeout", "the service gave up waiting"]],
  [409, ["conflict", "the service is changing the same thing for someone else"]],
  [413, ["too_large", "the request is larger than the service takes"]],
  [422, ["configuration", "the service refused the request"]],
  [429, ["unavailable", "the service takes no more requests for now"]],
]);

/** Codes and types in an error body that say more than the status does. */
const BY_CODE: ReadonlyMap<string, Verdict> = new Map<string, Verdict>([
  ["context_length_exceeded", ["too_large", "the messages are longer than the model's context"]],
  ["exceed_context_size_error", ["too_large", "the messages are longer than the model's context"]],
  ["string_above_max_length", ["too_large", "a text is longer than the service takes"]],
  ["model_not_found", ["configuration", "model: the service does not have it, or not for these credentials"]],
  ["invalid_api_key", ["unauthorized", "the service refused the credentials"]],
  ["insufficient_quota", ["unavailable", "the quota of the account is used up"]],
  ["rate_limit_exceeded", ["unavailable", "the service takes no more requests for now"]],
  ["server_error", ["unavailable", "the service failed to answer"]],
  ["previous_response_not_found", ["not_found", "the service does not have the response to continue from"]],
  ["conversation_not_found", ["not_found", "the service does not have the conversation"]],
]);

/** Servers that give no code for it say it in words only; nothing else is told by its text. */
const CONTEXT_LENGTH_TEXT = /context (?:length|window|size)|maximum context|prompt is too long/i;
const TOO_LONG: Verdict = ["too_large", "the messages are longer than the model's context"];

/** A word that an error may quote from a body: no key, token, text or address looks like it. */
const CODE_WORD = /^[a-z]+(?:_[a-z]+){0,8}$/;
const PARAMETER_PATH = /^[a-z]+(?:_[a-z]+){0,4}(?:\.?\[\d{1,5}\]|\.\d{1,5}|\.[a-z]+(?:_[a-z]+){0,4}){0,8}$/;
const LONGEST_QUOTE = 64;

/**
 * Tells what the SDK, the network or a server reported, as an error of the framework. The message names the status and
 * the service's code and parameter; it never quotes a body, a header or an address. `cause` is the original.
 *
 * An error of the framework comes back as it is. What has no status and no known code is `unavailable`.
 */
export function toOpenAIError(error: unknown, operation: string): AgentFrameworkError {
  if (isAgentFrameworkError(error)) {
    return error;
  }
  const facts = factsOf(error);
  const [code, text] = verdictOf(error, facts);
  return new AgentFrameworkError(code, `${operation} failed: ${text}${quotes(facts)}`, {
    provider: PROVIDER,
    cause: error,
  });
}

/** An answer that is not one. It is `unavailable`: another attempt may well be answered properly. */
export function brokenAnswer(what: string): AgentFrameworkError {
  return new AgentFrameworkError("unavailable", `the answer cannot be used: ${what}`, { provider: PROVIDER });
}

/** What the service reported in place of an answer, as an error of the framework; `unavailable` if it says nothing. */
export function failedAnswer(reported: unknown, operation: string): AgentFrameworkError {
  const facts = factsOf(reported);
  const known = facts.codes.map((code) => BY_CODE.get(code)).find((verdict) => verdict !== undefined);
  const [code, text] = known ?? ["unavailable", "the service reported an error in place of an answer"];
  return new AgentFrameworkError(code, `${operation} failed: ${text}${quotes(facts)}`, {
    provider: PROVIDER,
    cause: reported,
  });
}

/** A content or option that the API in use has no place for. */
export function unsupported(message: string): AgentFrameworkError {
  return new AgentFrameworkError("unsupported", message, { provider: PROVIDER });
}

interface Facts {
  readonly status: number | undefined;
  readonly codes: readonly string[];
  readonly parameter: string | undefined;
  readonly text: string;
}

function factsOf(error: unknown): Facts {
  if (typeof error !== "object" || error === null) {
    return { status: undefined, codes: [], parameter: undefined, text: "" };
  }
  const code = member(error, "code");
  const status = member(error, "status") ?? code;
  const codes = [code, member(error, "type")].filter((value) => typeof value === "string");
  const parameter = member(error, "param");
  const text = member(error, "message");
  return {
    // An error in the middle of a stream has no status; some servers then repeat it as the code.
    status: typeof status === "number" && status >= 400 && status <= 599 ? status : undefined,
    codes,
    parameter: typeof parameter === "string" ? parameter : undefined,
    text: typeof text === "string" ? text : "",
  };
}

function verdictOf(error: unknown, { status, codes, text }: Facts): Verdict {
  if (isTimeout(error)) {
    return ["timeout", "the service did not answer in time"];
  }
  for (const code of codes) {
    const verdict = BY_CODE.get(code);
    if (verdict !== undefined) {
      return verdict;
    }
  }
  if (status === undefined) {
    return ["unavailable", isMalformed(error) ? "the answer cannot be read" : "the connection failed or broke off"];
  }
  if ([400, 413, 422].includes(status) && CONTEXT_LENGTH_TEXT.test(text)) {
    return TOO_LONG;
  }
  return BY_STATUS.get(status) ?? otherStatus(status);
}

function otherStatus(status: number): Verdict {
  return status < 500
    ? ["configuration", "the service refused the request"]
    : ["unavailable", "the service failed to answer"];
}

function isTimeout(error: unknown): boolean {
  // A client that was passed in may come from another installed copy of the SDK.
  return (
    error instanceof APIConnectionTimeoutError ||
    (error instanceof Error && error.constructor.name === "APIConnectionTimeoutError")
  );
}

function isMalformed(error: unknown): boolean {
  return error instanceof SyntaxError;
}

function quotes({ status, codes, parameter }: Facts): string {
  const parts = [
    status === undefined ? undefined : `status ${status}`,
    ...codes.filter((code) => code.length <= LONGEST_QUOTE && CODE_WORD.test(code)).slice(0, 1),
    parameter !== undefined && parameter.length <= LONGEST_QUOTE && PARAMETER_PATH.test(parameter)
      ? `parameter ${parameter}`
      : undefined,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function member(value: object, name: string): unknown {
  if (isPlainObject(value)) {
    return value[name];
  }
  return name in value ? Reflect.get(value, name) : undefined;
}
