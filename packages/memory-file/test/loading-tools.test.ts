import { InMemoryFileStore } from "@agentfw/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import { FileMemoryProvider } from "../src/index.ts";
import { memoryEngine } from "../src/load-engine.ts";
import { holdEngine, unhandledRejections } from "./support/engines.ts";
import { begin } from "./support/memory.ts";
import { codeOf } from "./support/store.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function storeWith(path: string): Promise<InMemoryFileStore> {
  const store = new InMemoryFileStore();
  await store.write(path, "olives");
  return store;
}

describe("while the tools are not there", () => {
  test("options and runs are checked as ever", async () => {
    await holdEngine(memoryEngine);
    const store = new InMemoryFileStore();
    expect(() => new FileMemoryProvider(store, { scope: "../x" })).toThrow("scope");
    expect(await codeOf(begin(new FileMemoryProvider(store), { ephemeral: true }))).toBe("configuration");
    expect(await codeOf(begin(new FileMemoryProvider(store, { scope: () => "/" })))).toBe("configuration");
  });

  test("runs wait for them and get what they always get", async () => {
    const expected = await begin(new FileMemoryProvider(await storeWith("users/42/a.md"), { scope: "users/42" }));
    const { release } = await holdEngine(memoryEngine);
    const provider = new FileMemoryProvider(await storeWith("users/42/a.md"), { scope: "users/42" });
    const runs = [begin(provider), begin(provider, { sessionId: "session-2" })];
    release();
    for (const run of await Promise.all(runs)) {
      expect([run.index, run.instructions, run.tools]).toEqual([expected.index, expected.instructions, expected.tools]);
      expect(await run.call("read", { file_name: "a.md" })).toBe("olives");
    }
  });

  test("an abort ends the run at once, and the provider serves the next one", async () => {
    const { release } = await holdEngine(memoryEngine);
    const provider = new FileMemoryProvider(new InMemoryFileStore());
    const controller = new AbortController();
    const aborted = begin(provider, { signal: controller.signal });
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    release();
    expect((await begin(provider)).tools).toHaveLength(7);
  });

  test("a run waits for five seconds", async () => {
    const { release } = await holdEngine(memoryEngine);
    const provider = new FileMemoryProvider(new InMemoryFileStore());
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const run = codeOf(begin(provider));
    await vi.advanceTimersByTimeAsync(4_900);
    const settled = vi.fn();
    void run.then(settled);
    await vi.advanceTimersByTimeAsync(50);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(100);
    expect(await run).toBe("timeout");
    release();
    vi.useRealTimers();
    expect((await begin(provider)).tools).toHaveLength(7);
  });
});

describe("tools that cannot be loaded", () => {
  test("make every run unavailable, and none goes on without them", async () => {
    const cause = new Error("the file is gone");
    vi.spyOn(memoryEngine, "load").mockRejectedValue(cause);
    const provider = new FileMemoryProvider(new InMemoryFileStore());
    await expect(begin(provider)).rejects.toMatchObject({
      code: "unavailable",
      provider: "memory-file",
      message: expect.stringMatching(/^\[memory-file\] loading the tools: a part of the package could not be loaded$/),
      cause,
    });
    expect(await codeOf(begin(provider))).toBe("unavailable");
  });

  test("are no unhandled rejection when nothing runs", async () => {
    vi.spyOn(memoryEngine, "load").mockRejectedValue(new Error("the file is gone"));
    expect(await unhandledRejections(() => new FileMemoryProvider(new InMemoryFileStore()))).toBe(0);
  });
});

test("tools are loaded once for a provider, when it is made", async () => {
  const load = vi.spyOn(memoryEngine, "load");
  const provider = new FileMemoryProvider(new InMemoryFileStore());
  expect(load).toHaveBeenCalledTimes(1);
  await begin(provider);
  await begin(provider);
  expect(load).toHaveBeenCalledTimes(1);
});
