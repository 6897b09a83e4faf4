import { AgentFrameworkError, type ErrorCode } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { MEANINGS, toFrameworkError } from "../src/errors.ts";

/** One case for each line of MEANINGS, and what the caller is told. */
const CASES: readonly (readonly [driverCode: string, code: ErrorCode])[] = [["EACCES", "unauthorized"]];

/** An error as the driver throws it. Make it what yours throws: a class of its own, a number, a name. */
function driverError(code: string): Error {
  return Object.assign(new Error("secret text of the driver"), { code });
}

describe("what the driver's error codes mean", () => {
  it.each(CASES)("%s is %s, to a read and to a write", (driverCode, code) => {
    const cause = driverError(driverCode);
    for (const kind of ["read", "write"] as const) {
      expect(toFrameworkError(cause, "append", kind)).toMatchObject({ code, provider: "__provider__", cause });
    }
  });

  it("has a case here for each of its lines", () => {
    expect(CASES.map(([driverCode]) => driverCode).sort()).toEqual([...MEANINGS.keys()].sort());
  });
});

describe("every other error", () => {
  it.each([
    ["read", "unavailable"],
    ["write", "outcome_unknown"],
  ] as const)("of a %s is %s, because nobody knows what it did", (kind, code) => {
    expect(toFrameworkError(driverError("UNHEARD_OF"), "append", kind)).toMatchObject({ code });
    expect(toFrameworkError("no error at all", "append", kind)).toMatchObject({ code });
  });

  it("of a connection that was never made is unavailable: nothing was sent", () => {
    expect(toFrameworkError(driverError("ECONNREFUSED"), "append", "write")).toMatchObject({ code: "unavailable" });
  });

  it("of the framework passes through", () => {
    const error = new AgentFrameworkError("conflict", "another writer came first");
    expect(toFrameworkError(error, "append", "write")).toBe(error);
  });

  it("says nothing in its message that the driver said", () => {
    const codes = [...MEANINGS.keys(), "UNHEARD_OF", "ECONNREFUSED"];
    for (const { message } of codes.map((code) => toFrameworkError(driverError(code), "append", "write"))) {
      expect(message).not.toContain("secret text");
    }
  });
});
