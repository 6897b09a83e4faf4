import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { FileSystemFileStore } from "../src/index.ts";
import { storeEngine } from "../src/load-engine.ts";
import { Reading } from "../src/reading.ts";
import { holdEngine, unhandledRejections } from "./support/engines.ts";
import { codeOf, openStore, tree } from "./support/store.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Every call of a store, each with good arguments. */
function everyCall(store: FileSystemFileStore, signal?: AbortSignal): readonly Promise<unknown>[] {
  return [
    store.read("a.md", { signal }),
    store.write("a.md", "text", { signal }),
    store.delete("a.md", { signal }),
    store.exists("a.md", { signal }),
    store.list("", { signal }),
    store.listEntries("", { signal }),
    store.search("text", { signal, timeoutMs: 200 }),
  ];
}

/** What each call rejects with. */
async function errorsOf(calls: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  const outcomes = await Promise.allSettled(calls);
  return outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason : `resolved: ${outcome.value}`));
}

describe("while the engine of the store is not there", () => {
  test("options and arguments are checked as ever", async () => {
    const { release } = await holdEngine(storeEngine);
    expect(() => new FileSystemFileStore("")).toThrow("root");
    const { store } = await openStore({ maxFileBytes: 4 });
    const refused = [
      store.read("../a.md"),
      store.write("_store/a.md", "x"),
      store.write("a.md", "\ud800"),
      store.delete("/a.md"),
      store.exists(""),
      store.list("..", {}),
      store.listEntries("nul"),
      store.search(""),
    ];
    expect(await Promise.all(refused.map(codeOf))).toEqual(refused.map(() => "configuration"));
    expect(await codeOf(store.write("a.md", "12345"))).toBe("too_large");
    release();
  });

  test("calls wait for it with what was passed to them", async () => {
    const { store: earlier, root } = await openStore();
    const { etag } = await earlier.write("a.md", "first\nfirst", { owner: "ann" });
    await earlier.write("a.md", "nobody's");
    const { release } = await holdEngine(storeEngine);
    const { store } = await openStore({ root });
    const conditions = { owner: "ann", ifMatch: etag };
    const write = store.write("a.md", "second\nsecond", conditions);
    const scope = { owner: "ann" };
    const read = store.read("a.md", scope);
    const limits = { owner: "ann", limit: 1 };
    const search = store.search("first|second", limits);
    Object.assign(conditions, { owner: "bob", ifMatch: "another" });
    Object.assign(scope, { owner: null });
    Object.assign(limits, { owner: null, limit: 9 });
    release();
    await write;
    expect(["first\nfirst", "second\nsecond"]).toContain((await read)?.text);
    expect(await search).toHaveLength(1);
    expect((await store.read("a.md", { owner: "ann" }))?.text).toBe("second\nsecond");
    expect((await store.read("a.md"))?.text).toBe("nobody's");
    expect(await store.exists("a.md", { owner: "bob" })).toBe(false);
  });

  test("calls keep their order, also in the moment in which it comes", async () => {
    const { release } = await holdEngine(storeEngine);
    const begun = vi.spyOn(Reading.prototype, "exists");
    const { store } = await openStore();
    const calls: Promise<unknown>[] = [];
    for (let tick = 0; tick < 60; tick += 1) {
      calls.push(store.exists(`${tick}.md`));
      if (tick === 5) {
        release();
      }
      // Nothing else is waited for, so there is a call in each tick between the first that waits and those that do not.
      await undefined;
    }
    await Promise.all(calls);
    expect(begun.mock.calls.map(([{ name }]) => name)).toEqual(calls.map((_, tick) => `${tick}.md`));
  });

  test("the abort and the deadline end calls, which then do nothing", async () => {
    const { release } = await holdEngine(storeEngine);
    const { store, root } = await openStore({ timeoutMs: 200 });
    const controller = new AbortController();
    const aborted = everyCall(store, controller.signal);
    controller.abort();
    for (const error of await errorsOf(aborted)) {
      expect(error).toMatchObject({ name: "AbortError" });
    }
    for (const error of await errorsOf(everyCall(store))) {
      expect(error).toMatchObject({ code: "timeout", provider: "memory-file" });
    }
    const { store: patient } = await openStore({ root, timeoutMs: 60_000 });
    expect(await codeOf(patient.search("text", { timeoutMs: 100 }))).toBe("timeout");
    const exists = vi.spyOn(Reading.prototype, "exists");
    release();
    await store.close();
    expect(exists).not.toHaveBeenCalled();
    await expect(access(root)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("close waits no longer than a call may take", async () => {
    const { release } = await holdEngine(storeEngine);
    const { store, root } = await openStore({ timeoutMs: 50 });
    const settled: string[] = [];
    const write = codeOf(store.write("a.md", "x")).then((code) => settled.push(code));
    const close = store.close().then(() => settled.push("closed"));
    await Promise.all([write, close]);
    // Whatever waited has been given up by then, and is not done later.
    expect(settled).toEqual(["timeout", "closed"]);
    release();
    const { store: next } = await openStore({ root });
    expect(await next.exists("a.md")).toBe(false);
    await expect(access(root)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("close waits for the writes that were called before it, to their end", async () => {
    const { release } = await holdEngine(storeEngine);
    const { store, root } = await openStore();
    const write = store.write("a.md", "text");
    const close = store.close();
    release();
    await close;
    expect(await tree(root)).toEqual(["a.md"]);
    expect(await readdir(join(root, "_store"))).toEqual([".gitignore"]);
    await write;
    const { store: next } = await openStore({ root });
    expect((await next.read("a.md"))?.text).toBe("text");
  });
});

describe("an engine of the store that cannot be loaded", () => {
  test("makes every call unavailable and none uncertain, and leaves close nothing to do", async () => {
    const cause = new Error("the file is gone");
    vi.spyOn(storeEngine, "load").mockRejectedValue(cause);
    const { store, root } = await openStore();
    const early = everyCall(store);
    const later = errorsOf(early).then(() => errorsOf(everyCall(store)));
    for (const error of [...(await errorsOf(early)), ...(await later)]) {
      expect(error).toMatchObject({
        code: "unavailable",
        provider: "memory-file",
        message: expect.stringMatching(/^\[memory-file\] \w+: a part of the package could not be loaded$/),
        cause,
      });
    }
    await store.close();
    await expect(access(root)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("is no unhandled rejection when nothing is called", async () => {
    vi.spyOn(storeEngine, "load").mockRejectedValue(new Error("the file is gone"));
    expect(await unhandledRejections(() => new FileSystemFileStore("never-made"))).toBe(0);
  });
});

test("once the engine is there, a call begins without another tick, and nothing is loaded again", async () => {
  const load = vi.spyOn(storeEngine, "load");
  const { store } = await openStore();
  await store.write("a.md", "text");
  const begun = vi.spyOn(Reading.prototype, "exists");
  const exists = store.exists("a.md");
  expect(begun).toHaveBeenCalledTimes(1);
  expect(await exists).toBe(true);
  await store.read("a.md");
  expect(load).toHaveBeenCalledTimes(1);
});
