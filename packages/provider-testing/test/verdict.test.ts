import { AssertionError } from "node:assert";
import { AgentFrameworkError } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { failure } from "../src/expect.ts";
import { verdict } from "./support/verdict.ts";

const clause = { id: "X01", title: "holds", contract: "none" };

function ended(error: unknown, rejects?: string): string {
  return verdict({ rejects }, { clause, outcome: "failed", error }, "dead");
}

describe("a failure of a clause on a defective store", () => {
  test("counts when it is an assertion on what the store did", () => {
    expect(ended(failure("records are in order: expected 1, got 2"))).toBe("X01 failed");
    expect(verdict({}, { clause, outcome: "upcoming", error: failure("expected 1, got 2") }, "dead")).toBe(
      "X01 failed",
    );
    expect(verdict({}, { clause, outcome: "passed" }, "dead")).toBe("X01 passed");
  });

  test.each([
    ["a programming error", new TypeError("x is not a function")],
    ["an error of the framework", new AgentFrameworkError("unavailable", "dead")],
    [
      "an assertion that shows a programming error",
      failure("must reject with conflict; rejected with TypeError: no x"),
    ],
    ["an assertion that shows an error of the framework", failure("must succeed; got unavailable (dead)")],
    ["an assertion that shows an error of a driver", failure('must be unavailable; got "Error: connect"')],
    ["no error at all", "thrown text"],
  ])("does not count when it is %s, unless the mutant announces it", (_, error) => {
    expect(ended(error)).toContain("X01 failed on an error of the store that the mutant does not announce: ");
    expect(ended(error, "something else")).toContain("does not announce");
    const text = error instanceof Error ? error.message : String(error);
    expect(ended(error, text)).toBe("X01 failed");
  });

  test("does not count when only time has passed, whatever is announced", () => {
    const late = new AssertionError({ message: "the clause did not end within 30 ms" });
    expect(ended(late)).toContain("X01 did not come to its assertion");
    expect(ended(late, "did not end")).toContain("X01 did not come to its assertion");
  });

  test("does not count when it is the one on a store that only throws", () => {
    const none = failure("the number of writes that won: expected 1, got 0");
    const result = { clause, outcome: "failed", error: none } as const;
    expect(verdict({}, result, none.message)).toContain("X01 failed as it does on a store that only throws");
  });
});
