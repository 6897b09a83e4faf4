import { describe, expect, it } from "vitest";
import {
  assertByteLength,
  assertCallSize,
  assertIfMatch,
  assertIfVersion,
  assertOneOf,
  assertOptions,
  assertOwner,
  assertPath,
  assertRange,
  assertStateText,
  assertTagLimits,
  assertTags,
  assertTtlSeconds,
  assertWithin,
  isObjectText,
} from "../../src/backend.ts";

/** What a check throws, as `code: message`; "passes" where it does not. */
function outcome(check: () => unknown): string {
  try {
    check();
    return "passes";
  } catch (error) {
    return error instanceof Error && "code" in error ? `${error.code}: ${error.message}` : "no error of the framework";
  }
}

describe("Options", () => {
  const known = ["path", "isOpen", "onEvent"];
  const types = { isOpen: "boolean", onEvent: "function" } as const;

  it.each<[unknown, string]>([
    [{}, "passes"],
    [{ path: "x", isOpen: true, onEvent: () => {} }, "passes"],
    [{ path: undefined, isOpen: undefined, ttlSeconds: undefined }, "passes"],
    [Object.assign(Object.create(null), { path: "x" }), "passes"],
    [{ ttlSeconds: 1 }, "configuration: ttlSeconds: is none of path, isOpen, onEvent"],
    [{ ttlSeconds: null }, "configuration: ttlSeconds: is none of path, isOpen, onEvent"],
    [{ isOpen: 1 }, "configuration: isOpen: must be a boolean"],
    [{ onEvent: {} }, "configuration: onEvent: must be a function"],
    [undefined, "configuration: options: must be an object"],
    [null, "configuration: options: must be an object"],
    [[], "configuration: options: must be an object"],
    ["path", "configuration: options: must be an object"],
  ])("%o: %s", (options, expected) => {
    expect(outcome(() => assertOptions(options, "options", known, types))).toBe(expected);
  });
});

describe("Numbers and sizes", () => {
  it.each<[string, () => unknown, string]>([
    ["the least", () => assertWithin(1, "limit", 1, 9), "passes"],
    ["the most", () => assertWithin(9, "limit", 1, 9), "passes"],
    ["below", () => assertWithin(0, "limit", 1, 9), "configuration: limit: must be a whole number of at least 1"],
    ["above", () => assertWithin(10, "limit", 1, 9), "configuration: limit: must be at most 9"],
    [
      "a fraction",
      () => assertWithin(1.5, "limit", 1, 9),
      "configuration: limit: must be a whole number of at least 1",
    ],
    ["no number", () => assertWithin("5", "limit", 1, 9), "configuration: limit: must be a whole number of at least 1"],
    ["no expiry", () => assertTtlSeconds(undefined), "passes"],
    ["a millisecond", () => assertTtlSeconds(0.001), "passes"],
    ["a hundred years", () => assertTtlSeconds(3_153_600_000), "passes"],
    ...[0, -1, 0.0009, 3_153_600_001, Number.POSITIVE_INFINITY, Number.NaN, "60", null].map(
      (ttl): [string, () => unknown, string] => [
        `an expiry of ${ttl}`,
        () => assertTtlSeconds(ttl),
        "configuration: ttlSeconds: must be a number of seconds from 0.001 to 3153600000",
      ],
    ),
    ["as many bytes as may be", () => assertByteLength("éé", "text", 4), "passes"],
    ["more bytes", () => assertByteLength("éé", "text", 3), "too_large: text: above the limit of 3 bytes"],
  ])("%s", (_, check, expected) => {
    expect(outcome(check)).toBe(expected);
  });
});

describe("Arguments of a history's calls", () => {
  const size = { maxRecords: 2, maxBytes: 8 };
  const record = (id: string, data: string) => ({ id, data });

  it.each<[string, () => unknown, string]>([
    ["as much as may be", () => assertCallSize([record("a", '"x"'), record("b", '"é"')].slice(0, 1), size), "passes"],
    ["all bytes", () => assertCallSize([record("aé", "12345")], size), "passes"],
    [
      "a byte more",
      () => assertCallSize([record("aé", "123456")], size),
      "too_large: records: above 8 bytes in one call",
    ],
    ["nothing", () => assertCallSize([], size), "passes"],
    [
      "a record more",
      () =>
        assertCallSize(
          ["a", "b", "c"].map((id) => record(id, "1")),
          size,
        ),
      "too_large: records: more than 2 in one call",
    ],
    ["no condition", () => assertIfVersion(undefined), "passes"],
    ["the condition that there is nothing", () => assertIfVersion(""), "passes"],
    [
      "a condition that is no text",
      () => assertIfVersion(1),
      "configuration: ifVersion: must be a version that the store gave, or the empty text",
    ],
    [
      "no range",
      () => Reflect.apply(assertRange, undefined, [null]),
      "configuration: range: must name fromId and throughId",
    ],
    [
      "a range without an end",
      () => Reflect.apply(assertRange, undefined, [{ fromId: "a" }]),
      "configuration: range.throughId: must be a non-empty string",
    ],
  ])("%s", (_, check, expected) => {
    expect(outcome(check)).toBe(expected);
  });

  it("gives the range as it is now", () => {
    const range = { fromId: "a", throughId: "b", more: 1 };
    expect(assertRange(range)).toEqual({ fromId: "a", throughId: "b" });
  });
});

describe("Values and tags of a state", () => {
  const must = "configuration: text: must be the JSON text of an object";

  it.each<[unknown, string]>([
    ["{}", "passes"],
    ['{"a":"\\ud800"}', "passes"],
    ['{"a":"\ud800"}', must],
    ["[]", must],
    ["1", must],
    ["{", must],
    ["", must],
    [undefined, must],
    [{}, must],
    [`{"a":"${"x".repeat(20)}"}`, "too_large: text: above the limit of 20 bytes"],
  ])("the text %j: %s", (text, expected) => {
    expect(outcome(() => assertStateText(text, 20))).toBe(expected);
  });

  it("refuses conditions and words that mean nothing", () => {
    expect(outcome(() => assertIfMatch(undefined))).toBe("passes");
    expect(outcome(() => assertIfMatch("*"))).toBe("passes");
    expect(outcome(() => assertIfMatch(1))).toBe('configuration: ifMatch: must be an etag, or "*"');
    expect(outcome(() => assertOneOf("asc", "order", ["asc", "desc"]))).toBe("passes");
    expect(outcome(() => assertOneOf("up", "order", ["asc", "desc"]))).toBe(
      'configuration: order: must be "asc" or "desc"',
    );
    expect(outcome(() => assertOwner(null, "owner"))).toBe("passes");
    expect(outcome(() => assertOwner(undefined, "owner"))).toBe(
      "configuration: owner: must be a string, or null for nobody's",
    );
  });

  it("tells the text of an object from every other", () => {
    expect(["{}", '{"a":1}', "[]", "null", "x", ""].map(isObjectText)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it.each<[unknown, string]>([
    [{}, "passes"],
    [{ a: "", b: "x" }, "passes"],
    [{ a: 1 }, "configuration: tags.a: must be a string under a non-empty name"],
    [{ "": "x" }, "configuration: tags.: must be a string under a non-empty name"],
    [new Map(), "configuration: tags: must be an object of strings"],
    [["a"], "configuration: tags: must be an object of strings"],
    [null, "configuration: tags: must be an object of strings"],
    ["a", "configuration: tags: must be an object of strings"],
  ])("the tags %o: %s", (tags, expected) => {
    expect(outcome(() => assertTags(tags))).toBe(expected);
  });

  it("limits how many tags there are, and how long", () => {
    const limits = { maxTags: 2, maxBytes: 14 };
    expect(outcome(() => assertTagLimits({ a: "1", b: "é" }, { ...limits, maxBytes: 18 }))).toBe("passes");
    expect(outcome(() => assertTagLimits({ a: "1", b: "é" }, limits))).toBe(
      "too_large: tags: above the limit of 14 bytes",
    );
    expect(outcome(() => assertTagLimits({ a: "", b: "", c: "" }, limits))).toBe(
      "configuration: tags: must be at most 2",
    );
  });
});

describe("A path", () => {
  it("is any text that is not blank, without NUL", () => {
    for (const path of ["data", "/var/lib/data", "C:\\data", " a", "ü"]) {
      expect(outcome(() => assertPath(path, "directory"))).toBe("passes");
    }
    for (const other of ["", " ", "a\0b", 7, null, undefined, {}]) {
      expect(outcome(() => assertPath(other, "directory"))).toBe(
        "configuration: directory: must be a path that is not blank, without NUL",
      );
    }
  });
});
