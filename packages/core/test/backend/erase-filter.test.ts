import { describe, expect, it } from "vitest";
import { ownerToErase } from "../../src/backend.ts";

describe("Whose data is erased", () => {
  it.each(["ann", "", null])("%j is an owner", (owner) => {
    expect(ownerToErase({ owner })).toBe(owner);
  });

  it.each([
    [undefined, "filter: "],
    [[], "filter: "],
    [{}, "filter.owner: "],
    [{ owner: 5 }, "filter.owner: "],
    [{ owner: "ann", source: "main" }, "filter.source: narrows nothing down"],
    [{ owner: "ann", session: undefined }, "filter.session: narrows nothing down"],
  ])("%o is refused", (filter, message) => {
    expect(() => Reflect.apply(ownerToErase, undefined, [filter])).toThrow(message);
  });
});
