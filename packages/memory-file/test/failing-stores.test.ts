import { AgentFrameworkError, type FileStore, InMemoryFileStore } from "@agentfw/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { FileMemoryProvider } from "../src/index.ts";
import { begin, beginOn, minimalStore } from "./support/memory.ts";
import { openStore } from "./support/store.ts";

const CALLS = [
  ["write", { file_name: "a.md", content: "x" }],
  ["read", { file_name: "a.md" }],
  ["delete", { file_name: "a.md" }],
  ["ls", {}],
  ["grep", { regex_pattern: "x" }],
  ["replace", { file_name: "a.md", old_string: "x", new_string: "y" }],
  ["replace_lines", { file_name: "a.md", edits: [{ line_number: 1, new_line: "y" }] }],
] as const;

/** A store whose every call fails like this once `fail` was called. */
function failing(error: unknown): FileStore & { fail(): void } {
  let isFailing = false;
  const inner = minimalStore(new InMemoryFileStore());
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isFailing) {
      throw error;
    }
    return work();
  };
  return {
    contractVersion: 1,
    fail: () => {
      isFailing = true;
    },
    read: (...args) => guarded(() => inner.read(...args)),
    write: (...args) => guarded(() => inner.write(...args)),
    delete: (...args) => guarded(() => inner.delete(...args)),
    exists: (...args) => guarded(() => inner.exists(...args)),
    list: (...args) => guarded(() => inner.list(...args)),
    search: (...args) => guarded(() => inner.search(...args)),
  };
}

const SECRET = "/home/someone/secret";

describe.each([
  ["EACCES", Object.assign(new Error(`EACCES: ${SECRET}`), { code: "EACCES" })],
  ["ENOSPC", Object.assign(new Error(`ENOSPC: ${SECRET}`), { code: "ENOSPC" })],
  ["a TypeError", new TypeError(`cannot read ${SECRET}`)],
  ["a text", SECRET],
  ["nothing", undefined],
  ["an abort of its own", new DOMException(SECRET, "AbortError")],
  ["unavailable", new AgentFrameworkError("unavailable", SECRET)],
  ["timeout", new AgentFrameworkError("timeout", SECRET)],
  ["outcome_unknown", new AgentFrameworkError("outcome_unknown", SECRET)],
  ["corrupt", new AgentFrameworkError("corrupt", SECRET)],
  ["unauthorized", new AgentFrameworkError("unauthorized", SECRET)],
  ["unsupported", new AgentFrameworkError("unsupported", SECRET)],
])("a store that fails with %s", (_, error) => {
  test("is told to the model by every tool, in words that give nothing away, and reported", async () => {
    const store = failing(error);
    const run = await beginOn(store);
    store.fail();
    for (const [tool, args] of CALLS) {
      const answer = await run.call(tool, args);
      expect(answer).toMatch(/^Error: could not [a-z ]+: [a-z ;]+\.$/);
      expect(answer).not.toContain(SECRET);
    }
    expect(run.events.map(({ type }) => type)).toEqual(CALLS.map(() => "memory_tool_failed"));
    expect(run.events[0]).toMatchObject({ provider: "file_memory", callId: "call-1", sessionId: "session-1" });
    expect(run.events[0]?.cause).toBe(error);
  });

  test("costs a run its list, says so, and does not say that there is nothing", async () => {
    const store = failing(error);
    store.fail();
    const run = await beginOn(store);
    expect(run.index).toContain("do not conclude that there are none");
    expect(run.tools).toHaveLength(7);
    expect(run.events.map(({ type }) => type)).toEqual(["memory_index_failed"]);
  });
});

test("what the model did wrong is told and not reported", async () => {
  const run = await beginOn(new InMemoryFileStore());
  await run.call("write", { file_name: "Notes.md", content: "x" });
  for (const [tool, args] of [
    ["write", { file_name: "notes.md", content: "x" }],
    ["write", { file_name: "a.md" }],
    ["write", { file_name: "a.md", content: "\ud800" }],
    ["write", { file_name: "a.md", content: "x", title: "y" }],
    ["write", undefined],
    ["write", "a.md"],
    ["write", []],
    ["ls", { glob_pattern: 7 }],
    ["grep", {}],
    ["replace", { file_name: "Notes.md", old_string: "x", new_string: "y", replace_all: "yes" }],
  ] as const) {
    expect(await run.call(tool, args)).toMatch(/^Error: could not [a-z ]+: .+\.$/);
  }
  expect(run.events).toEqual([]);
  expect(await run.call("ls")).toEqual([{ name: "Notes.md", type: "file" }]);
});

test("a run that is given up is not answered with an error text", async () => {
  const controller = new AbortController();
  const run = await begin(new FileMemoryProvider(new InMemoryFileStore()), { signal: controller.signal });
  controller.abort();
  for (const [tool, args] of CALLS) {
    await expect(run.call(tool, args)).rejects.toMatchObject({ name: "AbortError" });
  }
});

test("many calls and files at once do not look like a leak of listeners", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const provider = new FileMemoryProvider((await openStore()).store, { scope: "users/42" });
  const { signal } = new AbortController();
  const run = await begin(provider, { signal });
  const names = Array.from({ length: 40 }, (_, index) => `f-${index}.md`);
  await Promise.all(names.map((file_name) => run.call("write", { file_name, content: "x" })));
  await Promise.all(names.map((file_name) => run.call("read", { file_name })));
  await begin(provider, { signal });
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});

test("a file that one writer changes all the time is an error for the other, not an endless loop", async () => {
  const inner = new InMemoryFileStore();
  let reads = 0;
  const store: FileStore = {
    ...minimalStore(inner),
    async read(path, options) {
      const file = await inner.read(path, options);
      reads += 1;
      await inner.write(path, `x ${reads}`, { owner: options?.owner });
      return file;
    },
  };
  await inner.write("users/42/a.md", "x");
  const run = await beginOn(store);
  reads = 0;
  const answer = await run.call("replace", { file_name: "a.md", old_string: "x", new_string: "y" });
  expect(answer).toMatch(/^Error: .*file_name: the file was changed by someone else meanwhile/);
  expect(reads).toBe(10);
});
