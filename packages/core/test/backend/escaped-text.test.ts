import { describe, expect, it } from "vitest";
import { escapeText, unescapeText } from "../../src/backend.ts";

describe("An escaped text", () => {
  it.each([
    ["plain é 😀", "plain é 😀"],
    ["a\\b", "a\\\\b"],
    ["a\0b\nc", "a\\u0000b\\u000ac"],
    ["\ud83d", "\\ud83d"],
    ["\ude00\ud83d", "\\ude00\\ud83d"],
    ["\\u0000", "\\\\u0000"],
    ["\r\t\"'", "\r\t\"'"],
    ["", ""],
  ])("%j is stored as %j for ever, and comes back", (text, escaped) => {
    expect(escapeText(text)).toBe(escaped);
    expect(unescapeText(escaped)).toBe(text);
  });
});
