import fs from "node:fs";
import { access } from "node:fs/promises";
import type { HistoryListFilter } from "@agentfw/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import { FileHistoryStore } from "../src/index.ts";
import { engineSource } from "../src/load-engine.ts";
import { codeOf, conversation, fileOf, ids, openStore, record, records } from "./support/store.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Holds back the part that works on the files, for stores that are opened from now on. */
async function holdEngine(): Promise<{ release(): void }> {
  const engine = await engineSource.load();
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  vi.spyOn(engineSource, "load").mockImplementation(() => gate.then(() => engine));
  return { release };
}

/** Every call of a store, each with good arguments. */
function everyCall(store: FileHistoryStore, signal?: AbortSignal): readonly Promise<unknown>[] {
  const key = conversation();
  return [
    store.append(key, [record("a")], { signal }),
    store.append(key, [], { signal }),
    store.read(key, { signal }),
    store.clear(key, { signal }),
    store.replace(key, { fromId: "a", throughId: "a" }, [record("b")], { signal }),
    store.list({ allOwners: true }, { signal }),
  ];
}

/** What each call rejects with. */
async function errorsOf(calls: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  const outcomes = await Promise.allSettled(calls);
  return outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason : `resolved: ${outcome.value}`));
}

describe("while the engine is not there", () => {
  test("options and arguments are checked as ever", async () => {
    const { release } = await holdEngine();
    expect(() => new FileHistoryStore({ directory: "" })).toThrow("directory");
    const { store } = await openStore({ dedupeWindow: 2000 });
    expect(store.capabilities.dedupe).toBe(2000);
    const key = conversation();
    const refused = [
      store.append(conversation(""), [record("a")]),
      store.append(key, [record("a", "no JSON")]),
      store.append(key, [record("a"), record("a")]),
      store.read(key, { last: 0 }),
      store.clear(conversation("")),
      store.replace(key, { fromId: "", throughId: "b" }, []),
      store.list({ allOwners: true }, { limit: 0 }),
      store.list({ owner: "owner-1" }, { cursor: "" }),
    ];
    expect(await Promise.all(refused.map(codeOf))).toEqual(refused.map(() => "configuration"));
    release();
  });

  test("calls wait for it with what was passed to them", async () => {
    const { store: earlier, directory } = await openStore();
    await earlier.append(conversation("full"), records("f", 3));
    const { release } = await holdEngine();
    const { store } = await openStore({ directory });
    const key = conversation();
    const turn = [{ ...record("a-0") }, record("a-1")];
    const conditions = { ifVersion: "" };
    const append = store.append(key, turn, conditions);
    const full = conversation("full");
    const options = { last: 1 };
    const read = store.read(full, options);
    const range = { fromId: "f-0", throughId: "f-1" };
    const replacement = [record("summary")];
    const replace = store.replace(full, range, replacement);
    Object.assign(turn[0] ?? {}, record("changed"));
    turn.push(record("a-2"));
    replacement.length = 0;
    Object.assign(key, { owner: null, session: "another" });
    Object.assign(full, conversation("unknown"));
    Object.assign(conditions, { ifVersion: "another" });
    Object.assign(options, { last: 3 });
    Object.assign(range, { throughId: "f-2" });
    release();
    expect(await append).toMatchObject({ appended: 2 });
    expect((await read).records).toEqual([record("f-2")]);
    await replace;
    expect((await store.read(conversation())).records).toEqual(records("a", 2));
    expect(ids((await store.read(conversation("full"))).records)).toEqual(["summary", "f-2"]);
  });

  test("a listing stays that of its owner, also when the filter inherits the owner or changes later", async () => {
    const { store: earlier, directory } = await openStore();
    await earlier.append(conversation(), [record("a")]);
    await earlier.append(conversation("s", { owner: "owner-2" }), [record("a")]);
    const { release } = await holdEngine();
    const { store } = await openStore({ directory });
    const inherited: HistoryListFilter = Object.create({ owner: "owner-1" });
    const changed = { owner: "owner-1" };
    const lists = [store.list(inherited), store.list(changed)];
    changed.owner = "owner-2";
    release();
    for (const { items } of await Promise.all(lists)) {
      expect(items.map(({ key }) => key)).toEqual([conversation()]);
    }
  });

  test("calls of one conversation keep their order, also in the moment in which it comes", async () => {
    const { release } = await holdEngine();
    const { store } = await openStore();
    const calls: Promise<unknown>[] = [];
    for (let tick = 0; tick < 60; tick += 1) {
      calls.push(store.append(conversation(), [record(`turn-${tick}`)]));
      if (tick === 5) {
        release();
      }
      // Nothing else is waited for, so there is a call in each tick between the first that waits and those that do not.
      await undefined;
    }
    await Promise.all(calls);
    const stored = (await store.read(conversation())).records;
    expect(ids(stored)).toEqual(calls.map((_, index) => `turn-${index}`));
  });

  test("the abort and the deadline end calls, which then do nothing", async () => {
    const { release } = await holdEngine();
    const { store, directory } = await openStore({ timeoutMs: 300 });
    const controller = new AbortController();
    const aborted = everyCall(store, controller.signal);
    controller.abort();
    for (const error of await errorsOf(aborted)) {
      expect(error).toMatchObject({ name: "AbortError" });
    }
    for (const error of await errorsOf(everyCall(store))) {
      expect(error).toMatchObject({ code: "timeout", provider: "history-file" });
    }
    const looked = [vi.spyOn(fs, "stat"), vi.spyOn(fs, "lstat")];
    release();
    await store.close();
    for (const spy of looked) {
      expect(spy).not.toHaveBeenCalled();
    }
    await expect(access(directory)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("close waits for the writes that were called before it", async () => {
    const { release } = await holdEngine();
    const { store, directory } = await openStore();
    const settled: string[] = [];
    const append = store.append(conversation(), [record("a")]).then(() => settled.push("append"));
    const close = store.close().then(() => settled.push("close"));
    release();
    await Promise.all([append, close]);
    expect(settled).toEqual(["append", "close"]);
    const { store: next } = await openStore({ directory });
    expect((await next.read(conversation())).records).toEqual([record("a")]);
  });
});

describe("an engine that cannot be loaded", () => {
  test("makes every call unavailable and none uncertain, and leaves close nothing to do", async () => {
    const cause = new Error("the file is gone");
    vi.spyOn(engineSource, "load").mockRejectedValue(cause);
    const { store, directory } = await openStore();
    const early = everyCall(store);
    const later = errorsOf(early).then(() => errorsOf(everyCall(store)));
    for (const error of [...(await errorsOf(early)), ...(await later)]) {
      expect(error).toMatchObject({
        code: "unavailable",
        provider: "history-file",
        message: expect.stringMatching(/^\[history-file\] \w+: a part of the package could not be loaded$/),
        cause,
      });
    }
    await store.close();
    await expect(access(directory)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("is no unhandled rejection when nothing is called", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    vi.spyOn(engineSource, "load").mockRejectedValue(new Error("the file is gone"));
    new FileHistoryStore({ directory: "never-made" });
    // They are told when the ticks of the moment are over.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

test("once the engine is there, a call reaches the disk without another tick, and nothing is loaded again", async () => {
  const load = vi.spyOn(engineSource, "load");
  const { store, directory } = await openStore();
  await store.append(conversation(), [record("a")]);
  const stat = vi.spyOn(fs, "stat");
  const read = store.read(conversation());
  expect(stat.mock.calls.map(([path]) => path)).toEqual([fileOf(directory)]);
  expect((await read).records).toHaveLength(1);
  await store.read(conversation());
  expect(load).toHaveBeenCalledTimes(1);
});
