import fs from "node:fs";
import { type FileStore, InMemoryFileStore } from "@agentfw/core";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { beginOn, minimalStore } from "./support/memory.ts";
import { openStore } from "./support/store.ts";
import { STORES } from "./support/stores.ts";

function linesOf(answer: unknown): string[] {
  const list: { file_name?: string; matching_lines?: { line_number: number; line: string }[] }[] = JSON.parse(
    JSON.stringify(answer),
  );
  return list.flatMap(({ file_name, matching_lines = [] }) =>
    matching_lines.map(({ line_number, line }) => `${file_name}:${line_number}:${line}`),
  );
}

describe.each(STORES)("grep %s", (_, open) => {
  test("finds lines with their numbers, file by file, and only in files that the glob fits", async () => {
    const run = await beginOn(await open());
    await run.call("write", { file_name: "b.md", content: "x\nFood: pasta\n", description: "food of the user" });
    await run.call("write", { file_name: "a.txt", content: "food\n\nmore FOOD" });
    expect(linesOf(await run.call("grep", { regex_pattern: "food" }))).toEqual([
      "a.txt:1:food",
      "a.txt:3:more FOOD",
      "b.md:2:Food: pasta",
    ]);
    const inMarkdown = await run.call("grep", { regex_pattern: "food", glob_pattern: "*.MD" });
    expect(linesOf(inMarkdown)).toEqual(["b.md:2:Food: pasta"]);
    expect(await run.call("grep", { regex_pattern: "nothing" })).toEqual([]);
    expect(await run.call("grep", { regex_pattern: "food", glob_pattern: "*.json" })).toEqual([]);
    expect(await run.call("grep", { regex_pattern: "description" })).toEqual([]);
  });

  test("shows what stands in files also when many descriptions match before", async () => {
    const run = await beginOn(await open());
    const names = Array.from({ length: 250 }, (_, index) => `f-${100 + index}.md`);
    const description = "about a meeting";
    await Promise.all(names.map((file_name) => run.call("write", { file_name, content: "x", description })));
    await run.call("write", { file_name: "z.md", content: "x\nThe meeting is at 5.", description });
    expect(await run.call("grep", { regex_pattern: "meeting" })).toEqual([
      { file_name: "z.md", matching_lines: [{ line_number: 2, line: "The meeting is at 5." }] },
    ]);
  });

  test("refuses patterns above 256 characters and what no linear engine can do", async () => {
    const run = await beginOn(await open());
    await run.call("write", { file_name: "a.md", content: "a".repeat(256) });
    expect(linesOf(await run.call("grep", { regex_pattern: "a".repeat(256) }))).toHaveLength(1);
    for (const regex_pattern of ["a".repeat(257), "", "(", "(a)\\1", "(?=a)", 7, undefined]) {
      expect(await run.call("grep", { regex_pattern })).toMatch(/^Error: could not search the files: .*pattern: /);
    }
  });

  test("cuts what is long, and says so", async () => {
    const run = await beginOn(await open());
    await run.call("write", { file_name: "lines.md", content: "match\n".repeat(300) });
    const many = await run.call("grep", { regex_pattern: "match" });
    expect(linesOf(many)).toHaveLength(100);
    expect(JSON.stringify(many)).toContain("Only the first 100 matching lines are shown");
    await run.call("write", { file_name: "long.md", content: `${"😀".repeat(1_000)}\n`.repeat(90) });
    const long = await run.call("grep", { regex_pattern: "😀", glob_pattern: "long.md" });
    expect(JSON.stringify(long).length).toBeLessThan(25_000);
    expect(JSON.stringify(long)).toMatch(/Only the first \d+ matching lines.*Lines are cut after 400 characters/);
    expect(JSON.stringify(long).isWellFormed()).toBe(true);
    await run.call("write", { file_name: "edge.md", content: `${"x".repeat(400)}\n${"x".repeat(401)}` });
    const edge = linesOf(await run.call("grep", { regex_pattern: "x", glob_pattern: "edge.md" }));
    expect(edge).toEqual([`edge.md:1:${"x".repeat(400)}`, `edge.md:2:${"x".repeat(400)}…`]);
  });
});

test("a search that is out of time or given up stops its work", async () => {
  const { store } = await openStore();
  for (let index = 0; index < 200; index += 1) {
    await store.write(`dir-${index % 20}/file-${index}.md`, "ab ".repeat(4_000));
  }
  const opens = vi.spyOn(fs, "open");
  onTestFinished(() => opens.mockRestore());
  const pattern = "(a|b|[a-z ]){40}(x|y|z){20}\\d";
  for (const [options, expected] of [
    [{ timeoutMs: 1 }, "timeout"],
    [{ timeoutMs: 60_000, signal: AbortSignal.timeout(5) }, "TimeoutError"],
  ] as const) {
    const error: unknown = await store.search(pattern, options).catch((reason: unknown) => reason);
    expect(error instanceof Error && [error.name, Reflect.get(error, "code")]).toContain(expected);
    // The few files that were on their way are done; none is begun any more.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const begun = opens.mock.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(opens.mock.calls.length).toBe(begun);
    expect(begun).toBeLessThan(200);
    opens.mockClear();
  }
});

test("a search within one large file lets other work go on, and ends in the middle of it", async () => {
  const { store } = await openStore();
  // Every window of letters is another state, so nothing that was worked out is of use again.
  let seed = 1;
  const letters = Array.from({ length: 1_000_000 }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % 2 === 0 ? "a" : "b";
  });
  await store.write("large.md", letters.join(""));
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  onTestFinished(() => clearInterval(timer));
  const pattern = "(a|b)*a(a|b){14}\\d";
  await expect(store.search(pattern, { timeoutMs: 1_000 })).rejects.toMatchObject({ code: "timeout" });
  expect(turns).toBeGreaterThan(10);
  // The work has ended with the call: between its slices it would pause.
  const pauses = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => pauses.mockRestore());
  turns = 0;
  await vi.waitFor(() => expect(turns).toBeGreaterThan(50));
  expect(pauses.mock.calls.filter(([, delay]) => delay === 0).length).toBeLessThan(10);
  pauses.mockRestore();
  const controller = new AbortController();
  const search = store.search(pattern, { timeoutMs: 60_000, signal: controller.signal });
  turns = 0;
  await vi.waitFor(() => expect(turns).toBeGreaterThan(10));
  controller.abort(new Error("enough"));
  await expect(search).rejects.toThrow("enough");
});

test("a store that gives as many lines as it was asked for may have more, which is said", async () => {
  const inner = new InMemoryFileStore();
  const asked: unknown[] = [];
  const store: FileStore = {
    ...minimalStore(inner),
    async search(_pattern, { limit = 0, timeoutMs } = {}) {
      asked.push(timeoutMs);
      return Array.from({ length: limit }, (_, line) => ({ path: "users/42/a.md", line: line + 1, text: "x" }));
    },
  };
  const run = await beginOn(store);
  const answer = await run.call("grep", { regex_pattern: "x", glob_pattern: "b.md" });
  expect(answer).toEqual([{ note: expect.stringContaining("Only the first 0 matching lines are shown") }]);
  expect(asked).toEqual([5_000]);
});
