import { describe, expect, it } from "vitest";
import { assertIdLengths } from "../src/record-ids.ts";

const records = (...ids: string[]) => ids.map((id) => ({ id, data: "1" }));

describe("Ids of records", () => {
  it("may be as long as the limit, in UTF-8", () => {
    expect(() => assertIdLengths(records("a".repeat(9), "éééé", ""), 9)).not.toThrow();
    expect(() => assertIdLengths([], 9)).not.toThrow();
  });

  it.each([
    [records("a", "b".repeat(10)), "records[1].id: "],
    [records("ééééé"), "records[0].id: "],
  ])("are refused above it by their place: %o", (given, beginning) => {
    const tooLarge = { code: "too_large", message: expect.stringMatching(beginning.replace(/[[\].]/g, "\\$&")) };
    expect(() => assertIdLengths(given, 9)).toThrow(expect.objectContaining(tooLarge));
  });
});
