import { describe, expect, test } from "vitest";
import { isSurelyJson } from "../../src/backend/sure-json.ts";
import { assertRecords } from "../../src/backend.ts";
import { assertHistoryRecords, type HistoryRecord } from "../../src/index.ts";

const MOST = { maxRecords: 9, maxBytes: 2_000_000 };

/** Whether core takes a text; what is sure must be among it. */
function isTaken(data: string): boolean {
  try {
    assertHistoryRecords([{ id: "1", data }], 1_000_000);
    return true;
  } catch {
    return false;
  }
}

function fault(check: () => void): unknown {
  try {
    check();
    return "taken";
  } catch (error) {
    return String(error);
  }
}

/** Numbers below `limit`, the same at each run. */
function draws(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const PIECES = [
  ...'{}[]",:\\-+.0189eEtfnu \n\r\t\b\u0000é\ud83d\ude00',
  ...[
    "\\n",
    '\\"',
    "\\\\",
    "\\u00e9",
    "\\ud83d",
    "\\x",
    "true",
    "null",
    '"a"',
    '"b":',
    "{}",
    "[]",
    "[[",
    "]}",
    "1e5",
    "-0",
  ],
];

describe("a text that is surely JSON", () => {
  test.each([
    { role: "user", contents: [{ type: "text", text: "Where is it?" }], messageId: "msg-1" },
    { role: "assistant", contents: [{ type: "text", text: 'It is "here":\n\\o/ 🎉 é' }, {}, [], [[1, -2.5e-7, 0]]] },
    { a: { b: [true, false, null, "", {}] }, "": { "\\": '"' } },
    "text",
    "",
    7,
    null,
  ])("is what JSON.stringify makes of %j", (value) => {
    expect(isSurelyJson(JSON.stringify(value))).toBe(true);
  });

  test("is one of 100,000 characters too, whatever they are", () => {
    for (const piece of ["plain", 'a "\n"', "é🎉", "\\"]) {
      const text = JSON.stringify({ text: piece.repeat(99_000 / (JSON.stringify(piece).length - 2)) });
      expect(text.length).toBeGreaterThan(95_000);
      expect(isSurelyJson(text), piece).toBe(true);
    }
  });

  test("is never one that the parser, or a line, cannot hold", () => {
    const draw = draws(20_261_130);
    const pick = (length: number) => Array.from({ length }, () => PIECES[draw(PIECES.length)]).join("");
    const seeds = [
      '{"role":"user","contents":[{"type":"text","text":"a\\nb"}],"n":[1,-2.5e-7,true,null]}',
      '["a","b\\\\",{"c":{"d":[]}},"é"]',
      '"a\\"b"',
    ];
    let sure = 0;
    for (let round = 0; round < 60_000; round += 1) {
      const seed = seeds[round % 4] ?? "";
      const at = draw(seed.length + 1);
      const text = seed.slice(0, at) + pick(1 + draw(seed === "" ? 7 : 2)) + seed.slice(at + draw(3));
      if (isSurelyJson(text)) {
        sure += 1;
        expect(isTaken(text), JSON.stringify(text)).toBe(true);
      }
    }
    // Enough of each kind to have tried something.
    expect(sure).toBeGreaterThan(2_000);
    expect(sure).toBeLessThan(58_000);
  });

  test("may be refused by it when it is rare, and is then left to the parser", () => {
    const deep = `${"[".repeat(40)}${"]".repeat(40)}`;
    for (const text of ['{ "a": 1 }', '"\\u00e9"', deep, JSON.stringify("x".repeat(200_000))]) {
      expect(isSurelyJson(text)).toBe(false);
      expect(() => assertRecords([{ id: "1", data: text }], 1_000_000, MOST)).not.toThrow();
    }
  });
});

describe("records", () => {
  const good: HistoryRecord = { id: "1", data: '{"a":1}' };

  test.each<[string, unknown]>([
    ["no list", good],
    ["nothing in it", [undefined]],
    ["a text in it", ["1"]],
    ["a list in it", [["1", "2"]]],
    ["no id", [{ data: "1" }]],
    ["an empty id", [{ id: "", data: "1" }]],
    ["an id that is a number", [{ id: 1, data: "1" }]],
    ["an id twice", [good, { id: "2", data: "1" }, { id: "1", data: "2" }]],
    ["no data", [{ id: "1" }]],
    ["data that is an object", [{ id: "1", data: {} }]],
    ["empty data", [{ id: "1", data: "" }]],
    ["two lines", [good, { id: "2", data: '{"a":\n1}' }]],
    ["no JSON", [{ id: "1", data: "{a:1}" }]],
    ["half of a character", [{ id: "1", data: '"\ud83d"' }]],
    ["more than may be", [good, { id: "2", data: JSON.stringify("é".repeat(60)) }]],
  ])("with %s are refused as they are everywhere", (_, records) => {
    const check = (assert: (records: never, maxRecordBytes: number, most: typeof MOST) => void) =>
      fault(() => Reflect.apply(assert, undefined, [records, 100, MOST]));
    expect(check(assertRecords)).toBe(check(assertHistoryRecords));
    expect(check(assertRecords)).not.toBe("taken");
  });

  test("above what one call may hold are refused, one by one or together", () => {
    const few = Array.from({ length: 4 }, (_, index) => ({ id: String(index), data: JSON.stringify("x".repeat(98)) }));
    expect(fault(() => assertRecords(few, 100, { maxRecords: 4, maxBytes: 404 }))).toBe("taken");
    expect(fault(() => assertRecords(few, 100, { maxRecords: 4, maxBytes: 403 }))).toContain("above 403 bytes");
    expect(fault(() => assertRecords(few, 99, MOST))).toContain("records[0].data");
    const many = Array.from({ length: 10 }, (_, index) => ({ id: String(index), data: "1" }));
    expect(fault(() => assertRecords(many, 100, MOST))).toContain("more than 9");
  });
});
