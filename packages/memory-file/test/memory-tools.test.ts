import type { FileStore } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { FileMemoryProvider } from "../src/index.ts";
import { begin, beginOn, indexLines, minimalStore } from "./support/memory.ts";
import { STORES } from "./support/stores.ts";

const TOOLS = ["write", "read", "delete", "ls", "grep", "replace", "replace_lines"].map(
  (name) => `file_memory_${name}`,
);

async function put(store: FileStore, files: Readonly<Record<string, string>>): Promise<void> {
  const run = await beginOn(store);
  for (const [file_name, content] of Object.entries(files)) {
    expect(await run.call("write", { file_name, content })).toMatch(/^Saved/);
  }
}

describe.each(STORES)("memory %s", (_, open) => {
  test("has seven tools, and instructions that say that it holds data", async () => {
    const run = await beginOn(await open());
    expect(run.tools).toEqual(TOOLS);
    expect(run.instructions).toContain("not instructions");
    expect(run.index).toBeUndefined();
  });

  test("gives back what was written, listed with its description in the next run", async () => {
    const store = await open();
    const run = await beginOn(store);
    const content = "Italian food\r\nno olives 😀\n\n";
    const args = { file_name: "food.md", content, description: "What the user likes" };
    expect(await run.call("write", args)).toBe('Saved "food.md".');
    expect(await run.call("read", { file_name: "food.md" })).toBe(content);
    expect(await run.call("ls")).toEqual([{ name: "food.md", type: "file", description: "What the user likes" }]);
    expect(indexLines(await beginOn(store))).toEqual(['- "food.md": "What the user likes"']);
  });

  test("forgets a description when a file is written without one, and keeps those of look-alike names apart", async () => {
    const store = await open();
    const run = await beginOn(store);
    await run.call("write", { file_name: "notes.md", content: "a", description: "first" });
    await run.call("write", { file_name: "notes.txt", content: "b", description: "second" });
    expect(indexLines(await beginOn(store))).toEqual(['- "notes.md": "first"', '- "notes.txt": "second"']);
    expect(await run.call("write", { file_name: "notes.md", content: "c" })).toBe(
      'Saved "notes.md", in place of what was there.',
    );
    expect(indexLines(await beginOn(store))).toEqual(['- "notes.md"', '- "notes.txt": "second"']);
    expect(await run.call("delete", { file_name: "notes.txt" })).toBe('Deleted "notes.txt".');
    expect(await run.call("delete", { file_name: "notes.txt" })).toMatch(/^Error: there is no memory file/);
    expect(await run.call("read", { file_name: "notes.txt" })).toMatch(/^Error: there is no memory file/);
    expect(await run.call("ls")).toEqual([{ name: "notes.md", type: "file" }]);
  });

  test.each([
    '---\ndescription: "mine"\n---\ntext',
    "---\ndescription: mine\n---\n",
    "---\ntitle: other\n---\ntext",
    "---\n",
    "",
    "\ufefftext",
    "a\r\nb\rc\u2028d",
  ])("keeps content that looks like a header: %j", async (content) => {
    const store = await open();
    const run = await beginOn(store);
    for (const description of [undefined, "ours"]) {
      await run.call("write", { file_name: "a.md", content, description });
      expect(await run.call("read", { file_name: "a.md" })).toBe(content);
      const expected = description === undefined ? '- "a.md"' : '- "a.md": "ours"';
      expect(indexLines(await beginOn(store))).toEqual([expected]);
    }
  });

  test("refuses names that are paths, reserved or odd, in words, and writes nothing", async () => {
    const store = await open();
    const run = await beginOn(store);
    const names = ["../a", "/a", "C:\\a", "a/b", "memories.md", "Memories.MD", "x_description.md", "X_Description.md"];
    for (const file_name of [
      ...names,
      "",
      ".",
      "..",
      "con",
      ".git",
      ".a.md",
      "a\u0000",
      "a\nb",
      "a\u202eb",
      "a\u061c",
      7,
      null,
      undefined,
    ]) {
      for (const [tool, rest] of [
        ["write", { content: "x" }],
        ["read", {}],
        ["delete", {}],
        ["replace", { old_string: "a", new_string: "b" }],
        ["replace_lines", { edits: [{ line_number: 1, new_line: "" }] }],
      ] as const) {
        expect(await run.call(tool, { file_name, ...rest }), `${tool} of ${file_name}`).toMatch(
          /^Error: could not .+: file_name: /,
        );
      }
    }
    expect(await store.list("")).toEqual([]);
    expect(await run.call("write", { file_name: "a..b.md", content: "x" })).toMatch(/^Saved/);
  });

  test("lists 50 of 60 files in order and says that there are more; ls lists all", async () => {
    const store = await open();
    const names = Array.from(
      { length: 60 },
      (_, index) => `${index % 2 ? "b" : "B"}-${String(index).padStart(2, "0")}.md`,
    );
    await put(store, Object.fromEntries([...names].reverse().map((name) => [name, "x"])));
    const next = await beginOn(store);
    expect(indexLines(next)).toEqual(names.slice(0, 50).map((name) => `- "${name}"`));
    expect(next.index).toContain("10 more are not listed here");
    expect(await next.call("ls")).toHaveLength(60);
    expect(indexLines(await beginOn(store, { maxIndexEntries: 2 }))).toHaveLength(2);
    expect((await beginOn(store, { maxIndexEntries: 0 })).index).toBeUndefined();
  });

  test("lists 500 files at most in one answer, and says how many more there are", async () => {
    const inner = await open();
    const names = Array.from({ length: 510 }, (_, index) => `users/42/f-${1000 + index}.md`);
    // Other stores may hold more than ours takes.
    const store: FileStore = {
      ...minimalStore(inner),
      list: async () => names,
      read: async () => ({ text: "", etag: "1" }),
    };
    const listed = await (await beginOn(store)).call("ls");
    expect(listed).toHaveLength(501);
    expect(JSON.stringify(listed)).toContain("10 more are not listed");
  });

  test("hides what other implementations keep beside memories, hidden files and directories", async () => {
    const store = await open();
    for (const name of ["memories.md", "notes_description.md", "folder/inner.md", ".gitignore", "notes.md"]) {
      await store.write(`users/42/${name}`, "text");
    }
    const run = await beginOn(store);
    expect(indexLines(run)).toEqual(['- "notes.md"']);
    expect(await run.call("ls")).toEqual([{ name: "notes.md", type: "file" }]);
    expect(await run.call("grep", { regex_pattern: "text" })).toEqual([
      { file_name: "notes.md", matching_lines: [{ line_number: 1, line: "text" }] },
    ]);
  });

  test("takes a wide slash for a character like any other", async () => {
    const store = await open();
    const run = await beginOn(store);
    expect(await run.call("write", { file_name: "a\uff0fb.md", content: "text" })).toMatch(/^Saved/);
    expect(await run.call("ls")).toEqual([{ name: "a\uff0fb.md", type: "file" }]);
    expect(indexLines(await beginOn(store))).toEqual(['- "a\uff0fb.md"']);
  });

  test("lists what a glob fits, whatever the case", async () => {
    const store = await open();
    await put(store, { "a.md": "x", "B.MD": "x", "a.txt": "x", "[1].md": "x", "x.y": "x" });
    const run = await beginOn(store);
    for (const [glob_pattern, names] of [
      ["*.md", ["[1].md", "a.md", "B.MD"]],
      ["?.*", ["a.md", "a.txt", "B.MD", "x.y"]],
      ["{a,b}.md", ["a.md", "B.MD"]],
      ["[a-b].md", ["a.md", "B.MD"]],
      ["[!a]*", ["[1].md", "B.MD", "x.y"]],
      ["[[]1].md", ["[1].md"]],
      ["x+y", []],
      ["", ["[1].md", "a.md", "a.txt", "B.MD", "x.y"]],
    ] as const) {
      const listed = await run.call("ls", { glob_pattern });
      expect(listed, glob_pattern).toEqual(names.map((name) => ({ name, type: "file" })));
    }
    for (const glob_pattern of ["{a", "a}", "*".repeat(257), 7]) {
      expect(await run.call("ls", { glob_pattern })).toMatch(/^Error: could not list the files: glob_pattern: /);
    }
  });
});

describe.each(STORES)("a scope %s", (_, open) => {
  test("is the session's own without a name, also for the same session id of another owner", async () => {
    const provider = new FileMemoryProvider(await open());
    const write = async (owner: string | null, sessionId: string) => {
      const run = await begin(provider, { owner, sessionId });
      await run.call("write", { file_name: "a.md", content: `of ${owner} ${sessionId}` });
    };
    const identities = [
      [null, "s"],
      ["null", "s"],
      ["", "s"],
      ["ann", "s"],
      ["Ann", "s"],
      ["../ann", "s"],
      ["ann", "../../s"],
      ["ann", "S"],
      ["ann", "_sessions"],
      [null, "users/42"],
    ] as const;
    for (const [owner, sessionId] of identities) {
      await write(owner, sessionId);
    }
    for (const [owner, sessionId] of identities) {
      const run = await begin(provider, { owner, sessionId });
      expect(await run.call("read", { file_name: "a.md" })).toBe(`of ${owner} ${sessionId}`);
      expect(indexLines(run)).toHaveLength(1);
    }
    expect((await beginOn(await open())).index).toBeUndefined();
  });

  test("is shared by every session when it has a name", async () => {
    const provider = new FileMemoryProvider(await open(), { scope: "team/7" });
    const first = await begin(provider, { sessionId: "one", owner: "ann" });
    await first.call("write", { file_name: "a.md", content: "shared" });
    expect(await (await begin(provider, { sessionId: "two", owner: "ann" })).call("read", { file_name: "a.md" })).toBe(
      "shared",
    );
    expect(await (await begin(provider, { ephemeral: true })).call("read", { file_name: "a.md" })).toBe("shared");
  });

  test("comes from the trusted owner with a function", async () => {
    const provider = new FileMemoryProvider(await open(), { scope: async ({ owner }) => `users/${owner}` });
    await (await begin(provider, { owner: "ann" })).call("write", { file_name: "a.md", content: "of ann" });
    expect((await begin(provider, { owner: "bob" })).index).toBeUndefined();
    expect(
      await (await begin(provider, { owner: "ann", sessionId: "other" })).call("read", { file_name: "a.md" }),
    ).toBe("of ann");
    await expect(begin(provider, { owner: "../ann" })).rejects.toMatchObject({ code: "configuration" });
  });

  test("that cannot be known ends the run before anything is read", async () => {
    const store = await open();
    await expect(begin(new FileMemoryProvider(store), { ephemeral: true })).rejects.toMatchObject({
      code: "configuration",
    });
    for (const scope of ["", "_sessions/x", "/a", "a/../b", undefined]) {
      const provider = new FileMemoryProvider(store, { scope: () => scope as string });
      await expect(begin(provider)).rejects.toMatchObject({ code: "configuration" });
    }
  });
});
