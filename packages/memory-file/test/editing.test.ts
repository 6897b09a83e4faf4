import { describe, expect, test } from "vitest";
import { beginOn, indexLines } from "./support/memory.ts";
import { STORES } from "./support/stores.ts";

describe.each(STORES)("editing memory %s", (_, open) => {
  test("replaces a text that occurs once, or everywhere when asked to", async () => {
    const store = await open();
    const run = await beginOn(store);
    await run.call("write", { file_name: "a.md", content: "one two one $& two", description: "kept" });
    const once = await run.call("replace", { file_name: "a.md", old_string: "one", new_string: "1" });
    expect(once).toMatch(/^Error: could not change the file: old_string: occurs 2 times/);
    expect(await run.call("read", { file_name: "a.md" })).toBe("one two one $& two");
    const all = { file_name: "a.md", old_string: "one", new_string: "$& $1", replace_all: true };
    expect(await run.call("replace", all)).toBe('Replaced 2 places in "a.md".');
    expect(await run.call("read", { file_name: "a.md" })).toBe("$& $1 two $& $1 $& two");
    for (const old_string of ["", "three", 7]) {
      expect(await run.call("replace", { file_name: "a.md", old_string, new_string: "x" })).toMatch(/^Error/);
    }
    expect(await run.call("replace", { file_name: "b.md", old_string: "a", new_string: "b" })).toMatch(
      /no memory file/,
    );
    expect(indexLines(await beginOn(store))).toEqual(['- "a.md": "kept"']);
  });

  test("refuses a change that would make a text too long for anybody, and leaves the file as it is", async () => {
    const run = await beginOn(await open());
    const content = "a".repeat(100_000);
    await run.call("write", { file_name: "a.md", content });
    const change = { file_name: "a.md", old_string: "a", new_string: "b".repeat(10_000), replace_all: true };
    expect(await run.call("replace", change)).toBe(
      "Error: could not change the file: the file would have 1000000000 characters.",
    );
    expect(await run.call("read", { file_name: "a.md" })).toBe(content);
  });

  test("replaces lines by the numbers that grep gives, with a description above them or not", async () => {
    for (const description of [undefined, "second line has two"]) {
      const run = await beginOn(await open());
      await run.call("write", { file_name: "a.md", content: "one\ntwo\r\nthree\n", description });
      expect(await run.call("grep", { regex_pattern: "TWO|three" })).toEqual([
        {
          file_name: "a.md",
          matching_lines: [
            { line_number: 2, line: "two" },
            { line_number: 3, line: "three" },
          ],
        },
      ]);
      const edits = [
        { line_number: 3, new_line: "3\n" },
        { line_number: 1, new_line: "" },
        { line_number: 4, new_line: "four" },
      ];
      expect(await run.call("replace_lines", { file_name: "a.md", edits })).toBe('Replaced 3 lines in "a.md".');
      expect(await run.call("read", { file_name: "a.md" })).toBe("two\r\n3\nfour");
    }
  });

  test("refuses lines that are not there, that occur twice, and edits that are none", async () => {
    const run = await beginOn(await open());
    await run.call("write", { file_name: "a.md", content: "one\ntwo" });
    for (const edits of [
      [],
      undefined,
      "x",
      [{ line_number: 3, new_line: "" }],
      [{ line_number: 0, new_line: "" }],
      [{ line_number: 1.5, new_line: "" }],
      [{ line_number: "1", new_line: "" }],
      [{ line_number: 1 }],
      [{ line_number: 1, new_line: "x", keep_break: true }],
      [null],
      [
        { line_number: 1, new_line: "" },
        { line_number: 1, new_line: "" },
      ],
    ]) {
      expect(await run.call("replace_lines", { file_name: "a.md", edits })).toMatch(
        /^Error: could not change the file/,
      );
    }
    expect(await run.call("read", { file_name: "a.md" })).toBe("one\ntwo");
  });

  test("loses nothing of parallel changes: texts are replaced one after another, moved lines are refused", async () => {
    const run = await beginOn(await open());
    const words = Array.from({ length: 8 }, (_, index) => `word${index};`);
    await run.call("write", { file_name: "a.md", content: words.join("") });
    const calls = words.map((old_string) =>
      run.call("replace", { file_name: "a.md", old_string, new_string: old_string.toUpperCase() }),
    );
    expect(await Promise.all(calls)).toEqual(words.map(() => 'Replaced 1 place in "a.md".'));
    expect(await run.call("read", { file_name: "a.md" })).toBe(words.join("").toUpperCase());
    const edits = (text: string) => ({ file_name: "a.md", edits: [{ line_number: 1, new_line: text }] });
    const answers = await Promise.all([run.call("replace_lines", edits("x")), run.call("replace_lines", edits("y"))]);
    const won = answers.filter((answer) => String(answer).startsWith("Replaced"));
    expect(won.length).toBeGreaterThan(0);
    expect(answers.filter((answer) => String(answer).includes("changed by someone else")).length).toBe(2 - won.length);
  });
});
