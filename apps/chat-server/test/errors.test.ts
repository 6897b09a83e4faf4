import { AgentFrameworkError, type ErrorCode } from "@agentfw/core";
import { expect, test } from "vitest";
import { HttpProblem, logged, problemBody, problemOf } from "../src/errors.ts";

const EXPECTED: Readonly<Record<ErrorCode, readonly [status: number, isWorthRepeating: boolean]>> = {
  configuration: [500, false],
  conflict: [409, true],
  corrupt: [500, false],
  not_found: [404, false],
  outcome_unknown: [503, true],
  timeout: [504, true],
  too_large: [413, false],
  unauthorized: [500, false],
  unavailable: [503, true],
  unsupported: [500, false],
};

test.each(Object.entries(EXPECTED))(
  "%s of a store is told by its status, and nothing of what it says",
  (code, expected) => {
    const cause = Object.assign(new Error("secret cause"), { code: "ECONNRESET" });
    const error = new AgentFrameworkError(code as ErrorCode, "secret detail", { provider: "history-redis", cause });
    const problem = problemOf(error);
    expect([problem.status, problem.retryAfterSeconds !== undefined]).toEqual(expected);
    expect(problemBody(problem)).toEqual({ status: problem.status, code, detail: problem.message });
    expect(JSON.stringify(problemBody(problem))).not.toContain("secret");
    expect(logged(problem)).toMatchObject({
      code,
      cause: { code, provider: "history-redis", cause: { code: "ECONNRESET" } },
    });
    expect(JSON.stringify(logged(problem))).not.toContain("secret cause");
  },
);

test("a write whose outcome is unknown is to be sent again under the same key", () => {
  expect(problemOf(new AgentFrameworkError("outcome_unknown", "append")).message).toContain("again under the same key");
});

test.each(["not_found", "unauthorized", "configuration"] as const)(
  "%s of the model service is no missing chat and no fault of the client",
  (code) => {
    const problem = problemOf(new AgentFrameworkError(code, "no such model", { provider: "openai" }));
    expect([problem.status, problem.code]).toEqual([502, "model"]);
  },
);

test("what nobody expected is a 500 that says nothing, with its stack in the log", () => {
  const problem = problemOf(new TypeError("secret is undefined"));
  expect(problem).toMatchObject({ status: 500, code: "internal" });
  expect(problem.message).not.toContain("secret");
  expect(logged(problem)).toMatchObject({
    cause: { name: "TypeError", stack: expect.stringContaining("errors.test.ts") },
  });
});

test("a problem stays what it is", () => {
  const problem = new HttpProblem(409, "busy", "Wait.", { retryAfterSeconds: 2 });
  expect(problemOf(problem)).toBe(problem);
});
