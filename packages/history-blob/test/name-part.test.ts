import { describe, expect, it } from "vitest";
import { decodeNamePart, encodeNamePart } from "../src/name-part.ts";

const TEXTS = [
  "a",
  "A",
  "a=b",
  "a=003db",
  "=",
  "~",
  ".",
  "..",
  "a.",
  ".a",
  "a.b",
  "a/b",
  "a b",
  "é",
  "😀",
  "\ud83d",
  "\0",
  "",
];

describe("A text as a part of a name", () => {
  it("is plain where it can be, and never what a path takes for something else", () => {
    expect(encodeNamePart("support-1.Ann_2+3@x")).toBe("support-1.Ann_2+3@x");
    expect(encodeNamePart("a/b")).toBe("a=002fb");
    expect(encodeNamePart("..")).toBe("=002e=002e");
    expect(encodeNamePart("")).toBe("=");
    for (const text of TEXTS) {
      expect(encodeNamePart(text)).toMatch(/^(?!\.)[A-Za-z0-9._@+=-]+(?<!\.)$/);
    }
  });

  it("is another one for each text, and gives it back", () => {
    expect(new Set(TEXTS.map(encodeNamePart)).size).toBe(TEXTS.length);
    expect(TEXTS.map((text) => decodeNamePart(encodeNamePart(text)))).toEqual(TEXTS);
  });

  it.each(["~unowned", "a b", "a/b", "=00", "=00g0", "é"])("is not %s", (part) => {
    expect(decodeNamePart(part)).toBeUndefined();
  });
});
