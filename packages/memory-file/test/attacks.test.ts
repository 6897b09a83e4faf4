import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FileStore, InMemoryFileStore } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { PATHS, PATTERNS } from "./support/attacks.ts";
import { beginOn } from "./support/memory.ts";
import { digestOf, openStore, temporaryDirectory } from "./support/store.ts";

const SECRET = "the secret outside";

/** What a store lives in, with something beside it that nobody may touch. */
interface Place {
  readonly store: FileStore;
  /** Fails when anything outside was made, changed or deleted. */
  expectUntouched(): Promise<void>;
}

async function onDisk(): Promise<Place> {
  const base = await temporaryDirectory();
  await mkdir(join(base, "outside"));
  await writeFile(join(base, "outside", "secret.md"), SECRET);
  const before = await digestOf(join(base, "outside"));
  const { store } = await openStore({ root: join(base, "root") });
  return {
    store,
    async expectUntouched() {
      expect(await digestOf(join(base, "outside"))).toBe(before);
      expect((await readdir(base)).sort()).toEqual(["outside", "root"]);
    },
  };
}

async function inMemory(): Promise<Place> {
  const store = new InMemoryFileStore();
  await store.write("outside/secret.md", SECRET, { owner: "someone else" });
  return {
    store,
    async expectUntouched() {
      expect(await store.list("", { owner: "someone else" })).toEqual(["outside/secret.md"]);
      expect((await store.read("outside/secret.md", { owner: "someone else" }))?.text).toBe(SECRET);
    },
  };
}

/** What came of it, as text: the answer or the error. */
async function outcome(call: Promise<unknown>): Promise<string> {
  return call.then(
    (value) => JSON.stringify(value ?? null),
    (error: unknown) => String(error),
  );
}

test("the corpus has at least 200 attacks", () => {
  expect(new Set(PATHS).size + new Set(PATTERNS).size).toBeGreaterThanOrEqual(200);
});

describe.each([
  ["on disk", onDisk],
  ["in memory", inMemory],
])("a store %s under attack", (_, open) => {
  test("keeps every path inside or refuses it, and shows nothing from outside", async () => {
    const { store, expectUntouched } = await open();
    const seen: string[] = [];
    for (const path of PATHS) {
      seen.push(
        await outcome(store.write(path, "inside")),
        await outcome(store.write(path, "inside", { ifNoneMatch: "*" })),
        await outcome(store.read(path)),
        await outcome(store.exists(path)),
        await outcome(store.list(path)),
        await outcome(store.search("secret outside", { directory: path })),
        await outcome(store.write("a.md", "inside", { owner: path })),
        await outcome(store.list("", { owner: path })),
        await outcome(store.delete(path)),
      );
    }
    seen.push(await outcome(store.search("secret outside")));
    expect(seen.some((text) => text.includes(SECRET))).toBe(false);
    await expectUntouched();
  });

  test("answers every tool call in words, and goes on", async () => {
    const { store, expectUntouched } = await open();
    const run = await beginOn(store);
    for (const file_name of PATHS) {
      const calls = [
        run.call("write", { file_name, content: "inside", description: `of ${file_name}` }),
        run.call("read", { file_name }),
        run.call("replace", { file_name, old_string: "inside", new_string: "still inside" }),
        run.call("replace_lines", { file_name, edits: [{ line_number: 1, new_line: "changed" }] }),
        run.call("ls", { glob_pattern: file_name }),
        run.call("grep", { regex_pattern: "secret outside", glob_pattern: file_name }),
      ];
      for (const answer of await Promise.all(calls)) {
        expect(typeof answer === "string" || Array.isArray(answer)).toBe(true);
        expect(JSON.stringify(answer)).not.toContain(SECRET);
      }
    }
    // Whatever was kept is a plain name in the scope, and the index has one line for each.
    const kept = (await store.list("")).map((path) => path.slice("users/42/".length));
    expect(kept.every((name) => name !== "" && !name.includes("/"))).toBe(true);
    const next = await beginOn(store, { maxIndexEntries: 1_000 });
    expect(next.index?.split("\n")).toHaveLength(kept.length + 3);
    expect(next.index).not.toContain(SECRET);
    await expectUntouched();
  });

  test("ends every pattern with lines or a refusal", async () => {
    const { store, expectUntouched } = await open();
    const run = await beginOn(store);
    await run.call("write", {
      file_name: "a.md",
      content: `${"a".repeat(30)}b\n${"x".repeat(50)}\n${"ab ".repeat(400)}!`,
    });
    await run.call("write", { file_name: "long.md", content: "a".repeat(20_000) });
    for (const regex_pattern of PATTERNS) {
      const answer = await run.call("grep", { regex_pattern });
      const isRefusal = typeof answer === "string" && answer.startsWith("Error: could not search the files: ");
      expect(isRefusal || Array.isArray(answer), regex_pattern).toBe(true);
      expect(JSON.stringify(answer).length).toBeLessThan(22_000);
    }
    await expectUntouched();
  });
});
