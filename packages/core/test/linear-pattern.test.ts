import { describe, expect, test } from "vitest";
import { compileLinearPattern } from "../src/linear-pattern.ts";

/** The answer, in slices of `work` steps. */
function matches(pattern: string, line: string, work = 1_000_000): boolean {
  const search = compileLinearPattern(pattern)(line);
  for (;;) {
    const answer = search(work);
    if (answer !== undefined) {
      return answer !== null;
    }
  }
}

/** A small deterministic generator (mulberry32), so that a failure can be repeated from its seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) % 1_000_000) % below;
  };
}

const ATOMS = [
  "a",
  "b",
  "A",
  "-",
  "é",
  "ß",
  "ſ",
  "K",
  "😀",
  ".",
  "\\d",
  "\\w",
  "\\W",
  "\\s",
  "\\D",
  "\\S",
  "[ab]",
  "[^ab]",
];
const RARE_ATOMS = [
  "[a-f\\d]",
  "[^\\w-]",
  "\\u0041",
  "\\u{1f600}",
  "\\ud83d\\ude00",
  "\\x62",
  "\\.",
  "\\p{L}",
  "[]",
  "[^]",
];
const ASSERTIONS = ["^", "$", "\\b", "\\B"];
const QUANTIFIERS = ["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "??", "{1,3}?", "{0}"];
const LINE_CHARACTERS = [
  "a",
  "b",
  "B",
  "1",
  " ",
  "-",
  "é",
  "É",
  "ß",
  "s",
  "ſ",
  "k",
  "\u212a",
  "😀",
  "\ud83d",
  ".",
  "\r",
];

function randomPattern(random: (below: number) => number, depth: number): string {
  const pick = (list: readonly string[]) => list[random(list.length)] ?? "";
  const parts: string[] = [];
  for (let count = 1 + random(3); count > 0; count -= 1) {
    const kind = random(10);
    if (kind === 0) {
      parts.push(pick(ASSERTIONS));
    } else if (kind <= 3 && depth > 0) {
      const inner = `${pick(["(", "(?:", "(?<name>"])}${randomPattern(random, depth - 1)})`;
      // A group name may appear once only, so the others stay unnamed.
      parts.push(inner.replaceAll(/\(\?<name>/g, (mark, at) => (at === 0 && depth === 2 ? mark : "(")) + quantifier());
    } else {
      parts.push(pick(kind === 4 ? RARE_ATOMS : ATOMS) + quantifier());
    }
  }
  return parts.join("") + (random(4) === 0 && depth > 0 ? `|${randomPattern(random, depth - 1)}` : "");

  function quantifier(): string {
    return random(2) === 0 ? pick(QUANTIFIERS) : "";
  }
}

function isWellFormed(pattern: string): boolean {
  try {
    return new RegExp(pattern, "iu") !== undefined;
  } catch {
    return false;
  }
}

function refusal(pattern: string): string {
  try {
    compileLinearPattern(pattern);
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return String(error);
  }
  throw new Error(`${pattern} was taken`);
}

describe("a linear pattern", () => {
  test("gives the same answers when many lines share what was learned, also beyond what is remembered", () => {
    const random = randomFrom(7);
    // As a list of states, this needs more than the thousand that are remembered.
    for (const pattern of ["(a|b)*a(a|b){12}c", "\\b(a|b)*a[^c]{11}\\b", "^(b|a)+c$"]) {
      const expression = new RegExp(pattern, "iu");
      const start = compileLinearPattern(pattern);
      for (let count = 0; count < 400; count += 1) {
        const line = Array.from({ length: 60 }, () => "aabbaabbcé"[random(10)]).join("");
        expect(start(line)(1_000_000) !== null, `/${pattern}/iu on ${line}`).toBe(expression.test(line));
      }
    }
  });

  test("gives the answer of RegExp on random patterns and lines", () => {
    const seed = Date.now() % 1_000_000_007;
    const random = randomFrom(seed);
    let compared = 0;
    for (let round = 0; round < 6_000; round += 1) {
      const pattern = randomPattern(random, 2);
      if (!isWellFormed(pattern)) {
        continue;
      }
      const expression = new RegExp(pattern, "iu");
      for (let count = 0; count < 6; count += 1) {
        // V8 also finds \B between the two halves of a surrogate pair, where the standard has no position.
        const characters = pattern.includes("\\B") ? LINE_CHARACTERS.filter((text) => text !== "😀") : LINE_CHARACTERS;
        const line = Array.from({ length: random(7) }, () => characters[random(characters.length)]).join("");
        const shown = `seed ${seed}: /${pattern}/iu on ${JSON.stringify(line)}`;
        expect(matches(pattern, line, 1 + random(40)), shown).toBe(expression.test(line));
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(20_000);
  });

  test.each([
    ["ell", "Hello", true],
    ["^HELLO$", "hello", true],
    ["colou?r", "the color", true],
    ["(foo|bar)+baz", "foobarbaz", true],
    ["\\bcat\\b", "concatenate", false],
    ["^\\d{4}-\\d{2}$", "2026-08", true],
    ["^\\d{4}-\\d{2}$", "2026-8", false],
    ["a{2,3}$", "baaaa", true],
    ["^a{2,3}$", "aaaa", false],
    ["^(a|)*$", "aaa", true],
    ["^$", "", true],
    ["x{0}y", "y", true],
    ["a||b", "", true],
    ["^[^\\]]+$", "a]", false],
    ["^.$", "😀", true],
    ["^.$", "\u2028", false],
    ["(?<year>\\d+)", "in 2026", true],
    ["(((a{4}){4}){4})", "a".repeat(64), true],
    ["^(((a{4}){4}){4})$", "a".repeat(63), false],
    ["^(((a{9}){9}){9})$", "", false],
  ])("/%s/ on %j is %s", (pattern, line, expected) => {
    expect(matches(pattern, line)).toBe(expected);
  });

  test.each([
    ["(a)\\1", "back-references"],
    ["(?<n>a)\\k<n>", "back-references"],
    ["(?=a)", "look-around"],
    ["(?!a)", "look-around"],
    ["(?<=a)b", "look-around"],
    ["(?<!a)b", "look-around"],
    ["(", "well-formed"],
    ["[z-a]", "well-formed"],
    ["a**", "well-formed"],
    ["\\y", "well-formed"],
    ["a{5000}", "repeats too much"],
    ["((a{100}){100}){100}", "repeats too much"],
    ["(((){1000}){1000}){1000}", "repeats too much"],
    ["(?:a{0}){0,1000000000}", "repeats too much"],
  ])("refuses /%s/ and names %s", (pattern, named) => {
    expect(refusal(pattern)).toContain(named);
  });

  test.each([
    ["(a+)+$", 30],
    ["(a|aa)+$", 50],
    ["a*a*a*a*a*a*b", 5_000],
    ["(.*)(.*)(.*)(.*)(.*)x", 5_000],
    ["(a*)*c", 5_000],
  ])("/%s/ needs work in proportion to the line", (pattern, length) => {
    const steps = (line: string) => {
      const search = compileLinearPattern(pattern)(line);
      let slices = 1;
      while (search(1) === undefined) {
        slices += 1;
      }
      return slices;
    };
    // One slice a character at most, and one each for the ends of the line and the text: nothing is looked at twice.
    expect(steps(`${"a".repeat(length)}b!`)).toBeLessThanOrEqual(length + 4);
  });

  test("can be searched by several lines at once", () => {
    const start = compileLinearPattern("b$");
    const [first, second] = [start("aab"), start("ba")];
    const found = { line: 1, text: "aab" };
    expect([first(1), second(1), second(1_000), first(1_000)]).toEqual([undefined, undefined, null, found]);
  });

  test.each([1, 7, 1_000])("finds each line that matches, with its number, in slices of %i steps", (work) => {
    const text = "b\r\nab\n\nc\rb\r\n\u2028b😀\r\n\r\nlast b\r";
    for (const pattern of ["b", "^b", "b$", "^$", "\r", "[^a]b", "\\bb", "😀$", "nothing"]) {
      const search = compileLinearPattern(pattern)(text);
      const found: unknown[] = [];
      for (let line = search(work); line !== null; line = search(work)) {
        found.push(...(line === undefined ? [] : [line]));
      }
      const expression = new RegExp(pattern, "iu");
      const lines = text.split(/\r?\n/).map((line, index) => ({ line: index + 1, text: line }));
      expect(found, pattern).toEqual(lines.filter((line) => expression.test(line.text)));
    }
  });
});
