import { afterEach, describe, expect, test } from "vitest";
import { isAgentFrameworkError, isPlainObject, toJson } from "../src/index.ts";

/** The error that toJson throws. */
function refusal(value: unknown): unknown {
  try {
    toJson(value, "state");
  } catch (error) {
    return error;
  }
  throw new Error("toJson took the value");
}

afterEach(() => {
  // Nothing that was copied may have reached the prototype of all objects.
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

describe("toJson refuses what JSON cannot hold, naming the path", () => {
  const cyclic: Record<string, unknown> = { name: "loop" };
  cyclic["self"] = cyclic;
  const cyclicList: unknown[] = [];
  cyclicList.push([cyclicList]);

  test.each<[string, unknown, RegExp]>([
    ["NaN", { a: [{ b: Number.NaN }] }, /^state\.a\[0\]\.b: NaN/],
    ["Infinity", { a: Number.POSITIVE_INFINITY }, /^state\.a: Infinity/],
    ["-Infinity", [Number.NEGATIVE_INFINITY], /^state\[0\]: -Infinity/],
    ["BigInt", { total: 10n }, /^state\.total: a bigint/],
    ["a Map", { index: new Map([["a", 1]]) }, /^state\.index: an instance of Map/],
    ["a Set", { tags: new Set(["a"]) }, /^state\.tags: an instance of Set/],
    ["a function", { run: () => 1 }, /^state\.run: a function/],
    ["a symbol", { mark: Symbol("x") }, /^state\.mark: a symbol/],
    ["an object that holds itself", { a: cyclic }, /^state\.a\.self: a cycle/],
    ["an array that holds itself", cyclicList, /^state\[0\]\[0\]: a cycle/],
    ["an invalid date", { at: new Date(Number.NaN) }, /^state\.at: an invalid date/],
    ["bytes", { raw: Uint8Array.of(1) }, /^state\.raw: an instance of Uint8Array/],
    ["a boxed string", { name: new String("x") }, /^state\.name: an instance of String/],
    ["an error", { failure: new Error("no") }, /^state\.failure: an instance of Error/],
    ["a regular expression", { pattern: /x/ }, /^state\.pattern: an instance of RegExp/],
    ["a promise", { later: Promise.resolve(1) }, /^state\.later: an instance of Promise/],
    ["undefined by itself", undefined, /^state: a undefined/],
  ])("%s", (_, value, message) => {
    const error = refusal(value);
    expect(isAgentFrameworkError(error, "configuration")).toBe(true);
    expect((error as Error).message).toMatch(message);
  });

  test("an instance of the caller's own class, also one that has a toJSON of its own", () => {
    class Money {
      readonly amount = 3;
      toJSON(): number {
        return this.amount;
      }
    }
    expect(refusal({ cart: { total: new Money() } })).toMatchObject({
      code: "configuration",
      message: expect.stringContaining("state.cart.total: an instance of Money"),
    });
    const anonymous = new (class {})();
    expect(refusal(anonymous)).toMatchObject({ code: "configuration" });
    const nameless = Object.create(Object.create({ constructor: undefined }));
    expect(refusal(nameless)).toMatchObject({ code: "configuration" });
  });

  test.each([
    ["objects", (inner: unknown) => ({ a: inner })],
    ["arrays", (inner: unknown) => [inner]],
  ])("50,000 levels of %s, with a typed error and not with the stack's end", (_, wrap) => {
    let value: unknown = "the middle";
    for (let level = 0; level < 50_000; level += 1) {
      value = wrap(value);
    }
    const error = refusal(value);
    expect(error).toMatchObject({ code: "configuration" });
    expect((error as Error).message.length).toBeLessThan(10_000);
  });
});

describe("toJson copies what JSON can hold", () => {
  test("undefined members are left out, and undefined in an array becomes null", () => {
    const copy = toJson({ a: undefined, b: null, c: [undefined, 1, null] }, "state");
    expect(Object.keys(copy as object)).toEqual(["b", "c"]);
    expect(copy).toEqual({ b: null, c: [null, 1, null] });
  });

  test("holes of a sparse array become null, and its length stays", () => {
    const sparse: unknown[] = [1];
    sparse[3] = 4;
    expect(toJson(sparse, "state")).toEqual([1, null, null, 4]);
  });

  test("a date becomes its ISO text", () => {
    expect(toJson({ at: new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 6)) }, "state")).toEqual({
      at: "2026-01-02T03:04:05.006Z",
    });
  });

  test("one object under two members is no cycle, and comes out as two copies", () => {
    const shared = { count: 1 };
    const copy = toJson({ left: shared, right: [shared, shared] }, "state") as {
      left: { count: number };
      right: { count: number }[];
    };
    expect(copy).toEqual({ left: { count: 1 }, right: [{ count: 1 }, { count: 1 }] });
    expect(copy.left).not.toBe(shared);
    expect(copy.left).not.toBe(copy.right[0]);
  });

  test("the names __proto__ and constructor are data, and change no prototype", () => {
    const hostile: unknown = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"a":{"__proto__":1}}',
    );
    const copy = toJson(hostile, "state") as Record<string, unknown>;
    expect(JSON.stringify(copy)).toBe(JSON.stringify(hostile));
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(copy["polluted"]).toBeUndefined();
    expect(JSON.stringify(toJson(hostile, "state"))).toBe(JSON.stringify(hostile));
    expect(Object.getPrototypeOf(toJson(hostile, "state"))).toBe(Object.prototype);
  });

  test("an object without a prototype and one of another realm are plain objects", () => {
    const bare: Record<string, unknown> = Object.create(null);
    bare["a"] = 1;
    expect(toJson(bare, "state")).toEqual({ a: 1 });
    // The prototype of another realm's objects is a different object that has no prototype either.
    const foreign: unknown = Object.assign(Object.create(Object.create(null)), { a: 1 });
    expect(isPlainObject(foreign)).toBe(true);
    expect(toJson(foreign, "state")).toEqual({ a: 1 });
  });

  test.each([
    ["an emoji", "😀 family: 👨‍👩‍👧"],
    ["NUL", "a\u0000b"],
    ["a lone high surrogate", "x\ud83dy"],
    ["a lone low surrogate", "\ude00"],
    ["line and paragraph separators", "\u2028\u2029"],
    ["a combining mark and its composed form", "e\u0301 \u00e9"],
  ])("%s comes back equal through JSON text, in a value and in a name", (_, text) => {
    const value = { [text]: [text] };
    expect(JSON.parse(JSON.stringify(toJson(value, "state")))).toEqual(value);
  });

  test("names are taken as they are: empty, with dots, and numeric ones", () => {
    const value = { "": 1, "a.b": { "[0]": 2 }, "1": 3 };
    expect(toJson(value, "state")).toEqual(value);
  });

  test("the copy shares nothing with the original", () => {
    const original = { list: [{ a: 1 }] };
    const copy = toJson(original, "state") as { list: { a: number }[] };
    copy.list[0]!.a = 2;
    copy.list.push({ a: 3 });
    expect(original).toEqual({ list: [{ a: 1 }] });
  });

  test("only a value's own, named members count", () => {
    const value = { a: 1, [Symbol("hidden")]: 2 };
    Object.defineProperty(value, "alsoHidden", { value: 3, enumerable: false });
    expect(toJson(value, "state")).toEqual({ a: 1 });
  });

  test("500 levels are no problem", () => {
    let value: unknown = "the middle";
    for (let level = 0; level < 500; level += 1) {
      value = level % 2 === 0 ? [value] : { a: value };
    }
    expect(JSON.stringify(toJson(value, "state"))).toBe(JSON.stringify(value));
  });

  test("what is both deep and wide costs what it holds, not that times its depth", () => {
    let value: unknown = Array.from({ length: 1_000_000 }, () => []);
    for (let level = 0; level < 950; level += 1) {
      value = [value];
    }
    expect(JSON.stringify(toJson(value, "state"))).toHaveLength(3_000_001 + 2 * 950);
  });
});
