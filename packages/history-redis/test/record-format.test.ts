import { describe, expect, test } from "vitest";
import { encodeId, newStamp, pushElements } from "../src/record-format.ts";
import { decodeElement, decodeId, stampTime, versionOf } from "../src/record-reading.ts";

describe("stamps", () => {
  test("are never the same, also within one millisecond and beyond a series", () => {
    const stamps = Array.from({ length: 200_000 }, () => newStamp(1_800_000_000_000));
    expect(new Set(stamps).size).toBe(stamps.length);
    for (const stamp of stamps.slice(0, 100)) {
      expect(stamp).toMatch(/^[0-9a-z]+-[0-9a-f]{12}$/);
    }
  });

  test("tell when they were made", () => {
    expect(stampTime(newStamp(1_800_000_000_123))).toBe(1_800_000_000_123);
    expect(stampTime(newStamp(0))).toBe(0);
    for (const text of ["", "~abc", "zzzzzzzzzzzzzzzz-0"]) {
      expect(stampTime(text)).toBeUndefined();
    }
  });
});

describe("ids", () => {
  test.each(["a", "a|b", "%", "%7C", "%u007c", "\ud83d", "\udc00\ud83d", "😀", "\u0000", "a\nb", "é|é", "%25"])(
    "%j come back as they were",
    (id) => {
      const stored = encodeId(id);
      expect(stored).not.toContain("|");
      expect(stored.isWellFormed()).toBe(true);
      expect(decodeId(stored)).toBe(id);
    },
  );

  test("that are different are stored differently", () => {
    const ids = ["|", "%7C", "%257C", "%", "%25", "\ud83d", "%ud83d", "%25ud83d"];
    expect(new Set(ids.map(encodeId)).size).toBe(ids.length);
  });
});

describe("elements", () => {
  test("carry the stamp in the last record of a write only", () => {
    const records = [
      { id: "a", data: '{"x":"|"}' },
      { id: "b|", data: "1" },
    ];
    const list = ["before"];
    pushElements(list, records, "0-0");
    expect(list).toEqual(["before", '|a|{"x":"|"}', "0-0|b%7C|1"]);
    expect(list.slice(1).map(decodeElement)).toEqual(records);
  });

  test.each(["", "no record at all", "|", "a|b", "stamp|id|{}", "0-0|id|", "||{}", "0-0||{}", "0-|a|1", "-0|a|1"])(
    "%j is unreadable",
    (text) => {
      expect(decodeElement(text)).toBe("unreadable");
    },
  );

  test("of a conversation without records are told apart", () => {
    for (const text of ["||", "0-0||"]) {
      expect(decodeElement(text)).toBe("placeholder");
    }
    expect(decodeElement('|a|"||"')).toEqual({ id: "a", data: '"||"' });
  });
});

describe("versions", () => {
  test("are the newest stamp, or stand for whatever else is there", () => {
    expect(versionOf("mb0abcde-0123456789ab|id|{}")).toBe("mb0abcde-0123456789ab");
    for (const text of ["|id|{}", "damaged", "", "a b-0|id|{}"]) {
      expect(versionOf(text)).toMatch(/^~[0-9a-f]{40}$/);
    }
    expect(versionOf("damaged")).not.toBe(versionOf("damaged too"));
  });
});
