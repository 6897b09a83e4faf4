import { describe, expect, it } from "vitest";
import { codedCause } from "../src/coded-cause.ts";

const coded = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

describe("The cause that has a code", () => {
  it("is the error itself, or the first of its causes that has one", () => {
    expect(codedCause(coded)).toBe(coded);
    const outer = Object.assign(new Error("outer", { cause: coded }), { code: "ERR_OUTER" });
    expect(codedCause(new Error("a", { cause: outer }))).toBe(outer);
    expect(codedCause(new TypeError("fetch failed", { cause: new Error("b", { cause: coded }) }))).toBe(coded);
  });

  it("is the error itself where none has one", () => {
    const error = new Error("a", { cause: new Error("b", { cause: "text" }) });
    expect(codedCause(error)).toBe(error);
    expect(codedCause(undefined)).toBeUndefined();
    expect(codedCause("text")).toBe("text");
  });
});
