import { describe, expect, it } from "vitest";
import { isWholeJson } from "../../src/backend.ts";

describe("A stored text", () => {
  it.each(["{}", '{"a":1}', "[]", "[1]", '""', '"a"', "1", "-1.5e3", "true", "null"])("%s is whole", (text) => {
    expect(isWholeJson(text)).toBe(true);
  });

  it.each(["", '"', "{", '{"a":1', '"a', "[1}", "tru", "xx", "\0"])("%s is cut or overwritten", (text) => {
    expect(isWholeJson(text)).toBe(false);
  });
});
