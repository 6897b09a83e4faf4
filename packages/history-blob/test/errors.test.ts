import { AgentFrameworkError, type ErrorCode, isAgentFrameworkError } from "@agentfw/core";
import { expect, test } from "vitest";
import { PROVIDER } from "../src/errors.ts";
import { SteppedCall } from "../src/stepped-call.ts";
import { failureOf, type Verdict, verdictOf } from "../src/verdicts.ts";

/** What a caller is told. */
function toFrameworkError(error: unknown, operation: string): AgentFrameworkError {
  const call = new SteppedCall(operation, { provider: PROVIDER, timeoutMs: 1_000, signal: undefined, failureOf });
  const told = call.fail(error);
  if (!isAgentFrameworkError(told)) {
    throw told;
  }
  return told;
}

/** An error as the driver makes it of the service's answer. */
function answer(statusCode: number, code?: string): Error {
  return Object.assign(new Error("words of the service"), { name: "RestError", statusCode, code });
}

/** An error as the driver makes it where there was no answer. */
function failure(code: string, name = "RestError"): Error {
  return Object.assign(new Error("words of the driver"), { name, code });
}

test.each([
  [412, "ConditionNotMet", "condition", "conflict"],
  [412, "AppendPositionConditionNotMet", "condition", "conflict"],
  [412, undefined, "condition", "conflict"],
  [412, "LeaseIdMissing", "refused", "unavailable"],
  [409, "BlockCountExceedsLimit", "full", "unavailable"],
  [409, "BlobAlreadyExists", "exists", "conflict"],
  [403, "UnauthorizedBlobOverwrite", "exists", "conflict"],
  [409, "ContainerAlreadyExists", "exists", "conflict"],
  [409, "ContainerBeingDeleted", "busy", "unavailable"],
  [409, "InvalidBlobType", "refused", "corrupt"],
  [409, "BlobArchived", "refused", "unavailable"],
  [409, "BlobImmutableDueToPolicy", "refused", "unauthorized"],
  [409, "SomethingNew", "refused", "unavailable"],
  [404, "BlobNotFound", "no-blob", "unavailable"],
  [404, "ContainerNotFound", "no-container", "configuration"],
  [404, "ResourceNotFound", "refused", "unavailable"],
  [404, undefined, "refused", "unavailable"],
  [416, "InvalidRange", "no-range", "unavailable"],
  [401, "InvalidAuthenticationInfo", "refused", "unauthorized"],
  [403, "AuthenticationFailed", "refused", "unauthorized"],
  [403, undefined, "refused", "unauthorized"],
  [200, undefined, "lost", "unavailable"],
  [302, undefined, "refused", "unavailable"],
  [400, "InvalidHeaderValue", "refused", "configuration"],
  [400, "InvalidQueryParameterValue", "refused", "configuration"],
  [413, "RequestBodyTooLarge", "refused", "too_large"],
  [429, undefined, "busy", "unavailable"],
  [500, "InternalError", "lost", "unavailable"],
  [500, "OperationTimedOut", "lost", "unavailable"],
  [502, undefined, "lost", "unavailable"],
  [503, "ServerBusy", "busy", "unavailable"],
] as const satisfies readonly (readonly [number, string | undefined, Verdict, ErrorCode])[])(
  "%i %s is %s, and %s to a caller",
  (status, code, verdict, expected) => {
    const error = answer(status, code);
    expect(verdictOf(error)).toBe(verdict);
    const told = toFrameworkError(error, "read");
    expect(told).toMatchObject({ code: expected, provider: "history-blob", cause: error });
    expect(told.message).not.toContain("words of");
  },
);

test.each([
  ["ECONNREFUSED", "busy", "unavailable"],
  ["ENOTFOUND", "busy", "unavailable"],
  ["EAI_AGAIN", "busy", "unavailable"],
  ["ECONNRESET", "lost", "unavailable"],
  ["EPIPE", "lost", "unavailable"],
  ["ETIMEDOUT", "lost", "unavailable"],
  ["REQUEST_SEND_ERROR", "lost", "unavailable"],
  ["CERT_HAS_EXPIRED", "refused", "configuration"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "refused", "configuration"],
  ["EPROTO", "lost", "unavailable"],
] as const)("%s is %s, and %s to a caller", (code, verdict, expected) => {
  for (const error of [failure(code), new Error("outer", { cause: failure(code) })]) {
    expect(verdictOf(error)).toBe(verdict);
    expect(toFrameworkError(error, "append").code).toBe(expected);
  }
});

test("what has no meaning of its own is told with the status and the service's word for it", () => {
  expect(toFrameworkError(answer(400, "InvalidUri"), "read").message).toContain("(400 InvalidUri)");
  expect(toFrameworkError(answer(403), "read").message).toContain("(403)");
  expect(toFrameworkError(answer(403, "words of a proxy"), "read").message).toMatch(/\(403\)$/);
});

test("what gives no token is unauthorized, what is unknown is a failure, and ours stay as they are", () => {
  for (const name of ["AuthenticationError", "CredentialUnavailableError", "AggregateAuthenticationError"]) {
    expect(toFrameworkError(Object.assign(new Error("no"), { name }), "read").code).toBe("unauthorized");
  }
  expect(toFrameworkError(new Error("the download ended before its end"), "read").code).toBe("unavailable");
  expect(toFrameworkError("thrown text", "read").code).toBe("unavailable");
  const ours = new AgentFrameworkError("conflict", "another writer came first");
  expect(toFrameworkError(ours, "append")).toBe(ours);
});
