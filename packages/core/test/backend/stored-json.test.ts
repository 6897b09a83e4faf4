import { expect, it } from "vitest";
import { parseObject, parseTags } from "../../src/backend.ts";

it("The text of an object gives it, and every other text gives nothing", () => {
  expect(parseObject('{"a":1}')).toEqual({ a: 1 });
  for (const text of ["", "{", "[]", "null", "1", '"a"']) {
    expect(parseObject(text)).toBeUndefined();
  }
});

it("Tags are an object of strings, and nobody can change them any more", () => {
  const given = { a: "1" };
  const tags = parseTags(given);
  expect([tags, Object.isFrozen(tags), Object.isFrozen(given)]).toEqual([given, true, false]);
  for (const value of [undefined, null, [], "a", { a: 1 }, { a: undefined }]) {
    expect(parseTags(value)).toBeUndefined();
  }
});
