import { describe, expect, test } from "vitest";
import {
  AgentFrameworkError,
  configurationError,
  type ErrorCode,
  isAbortError,
  isAgentFrameworkError,
} from "../src/index.ts";

/** Every code, and whether the same call may succeed later. Fails to compile when a code is missing. */
const RETRYABLE: Record<ErrorCode, boolean> = {
  configuration: false,
  unavailable: true,
  timeout: true,
  conflict: true,
  corrupt: false,
  too_large: false,
  unsupported: false,
  unauthorized: false,
  not_found: false,
  outcome_unknown: true,
};

describe("an error of the framework", () => {
  test.each(Object.entries(RETRYABLE))("with the code %s: retryable is %s", (code, retryable) => {
    const error = new AgentFrameworkError(code as ErrorCode, "what happened");
    expect(error.code).toBe(code);
    expect(error.retryable).toBe(retryable);
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe("AgentFrameworkError");
    expect(isAgentFrameworkError(error)).toBe(true);
    expect(isAgentFrameworkError(error, code as ErrorCode)).toBe(true);
  });

  test("says who noticed, and carries what it was given beside its message", () => {
    const cause = new Error("ECONNREFUSED redis://user:secret@host");
    const error = new AgentFrameworkError("conflict", "another writer came first", {
      provider: "history-x",
      cause,
      currentVersion: "7",
      position: "line 3",
      response: { text: "the model's answer" },
    });
    expect(error.message).toBe("[history-x] another writer came first");
    expect(error).toMatchObject({ provider: "history-x", currentVersion: "7", position: "line 3" });
    expect(error.cause).toBe(cause);
    expect(error.response).toEqual({ text: "the model's answer" });
    expect(String(error)).not.toMatch(/secret|answer/);
  });

  test("has no cause when it was given none", () => {
    expect("cause" in new AgentFrameworkError("timeout", "late")).toBe(false);
    expect("cause" in configurationError("field", "rule")).toBe(false);
    expect(configurationError("field", "rule", 0).cause).toBe(0);
  });

  test("of a wrong configuration names the field and the rule", () => {
    expect(configurationError("maxMessages", "must be a whole number of at least 1")).toMatchObject({
      code: "configuration",
      message: "maxMessages: must be a whole number of at least 1",
    });
  });
});

describe("telling errors apart", () => {
  test("holds for an error of another installed copy", () => {
    class OtherCopy extends Error {
      readonly "~agentfw/error" = true;
      readonly code = "conflict";
    }
    const error = new OtherCopy("theirs");
    expect(error).not.toBeInstanceOf(AgentFrameworkError);
    expect(isAgentFrameworkError(error)).toBe(true);
    expect(isAgentFrameworkError(error, "conflict")).toBe(true);
    expect(isAgentFrameworkError(error, "timeout")).toBe(false);
  });

  test("asks for the code when one is given", () => {
    expect(isAgentFrameworkError(new AgentFrameworkError("timeout", "x"), "conflict")).toBe(false);
  });

  test.each([
    undefined,
    null,
    "~agentfw/error",
    5,
    {},
    new Error("x"),
    { "~agentfw/error": "true" },
    { code: "conflict" },
  ])("is false for %j", (value) => {
    expect(isAgentFrameworkError(value)).toBe(false);
    expect(isAgentFrameworkError(value, "conflict")).toBe(false);
  });

  test("knows an abort by its name, as platforms raise it", () => {
    expect(isAbortError(AbortSignal.abort().reason)).toBe(true);
    expect(isAbortError(Object.assign(new Error("x"), { name: "AbortError" }))).toBe(true);
    expect(isAbortError(AbortSignal.timeout(0).reason ?? new DOMException("late", "TimeoutError"))).toBe(false);
    for (const value of [undefined, null, "AbortError", new Error("AbortError")]) {
      expect(isAbortError(value)).toBe(false);
    }
  });
});
