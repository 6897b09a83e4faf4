import { describe, expect, it } from "vitest";
import { compactJson, memberTexts } from "../src/json-text.ts";

describe("A member of a JSON text", () => {
  it("has the text that was written, numbers and white space included", () => {
    const text = '\n{ "a" : 9007199254740993,"b":1.0 , "c":{"a":[1 , {"}":"]"}]},\t"d":"x\\"}\\\\" }';
    expect([...memberTexts(text)]).toEqual([
      ["a", "9007199254740993"],
      ["b", "1.0"],
      ["c", '{"a":[1 , {"}":"]"}]}'],
      ["d", '"x\\"}\\\\"'],
    ]);
  });

  it("is found by the name that its text stands for; of two the last one counts", () => {
    expect(memberTexts('{"\\u0061":1,"a":2,"":[]}')).toEqual(
      new Map([
        ["a", "2"],
        ["", "[]"],
      ]),
    );
    expect(memberTexts("{}").size).toBe(0);
  });
});

it("A compact JSON text has no white space but that in its strings, and its numbers as they were", () => {
  expect(compactJson(' { "a b" : [ 1.0 ,\n"\\" x" ] }\t')).toBe('{"a b":[1.0,"\\" x"]}');
  expect(compactJson("{}")).toBe("{}");
});
