import { describe, expect, it } from "vitest";
import { compare, median } from "../src/statistics.ts";

describe("median", () => {
  it("is the middle value, whatever the order", () => {
    expect(median([9, 1, 5])).toBe(5);
  });

  it("lies halfway between two middle values", () => {
    expect(median([4, 1, 100, 2])).toBe(3);
  });

  it("compares numbers, not their texts", () => {
    expect(median([10, 9, 100])).toBe(10);
  });

  it("leaves the values as they were", () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });

  it("refuses to speak for nothing", () => {
    expect(() => median([])).toThrow("nothing was measured");
  });
});

describe("compare", () => {
  it("takes each ratio within its run, so that a slow run does not count as a slow contender", () => {
    // Everything took ten times as long in the last run; the ratio of the medians would be 20 / 10.
    expect(compare([20, 40, 200], [10, 10, 100])).toEqual({ ratio: 2, ratioMin: 2, ratioMax: 4, difference: 30 });
  });

  it("is one for a contender against itself", () => {
    expect(compare([3, 5], [3, 5])).toEqual({ ratio: 1, ratioMin: 1, ratioMax: 1, difference: 0 });
  });

  it("refuses contenders that were not measured in the same runs", () => {
    expect(() => compare([1, 2], [1])).toThrow("different runs");
  });
});
