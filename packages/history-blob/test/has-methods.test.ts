import { describe, expect, it } from "vitest";
import { hasMethods } from "../src/has-methods.ts";

describe("An object of a driver", () => {
  it("is told by its methods, its own or inherited", () => {
    class Client {
      query(): void {}
    }
    expect(hasMethods(new Client(), "query")).toBe(true);
    expect(hasMethods({ query: () => {}, end: () => {} }, "query", "end")).toBe(true);
    expect(hasMethods(new Client(), "query", "end")).toBe(false);
    expect(hasMethods({ query: "select" }, "query")).toBe(false);
  });

  it.each([undefined, null, "query", 5, () => {}])("is not %o", (value) => {
    expect(hasMethods(value, "query")).toBe(false);
  });
});
