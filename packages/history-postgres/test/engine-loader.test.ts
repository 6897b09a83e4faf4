import { afterEach, describe, expect, test, vi } from "vitest";
import { EngineLoader } from "../src/engine-loader.ts";
import { rejection } from "./support/conversation.ts";

const ENGINE = "engine";

/** A load that ends when the test says so. */
function gate() {
  let open: (engine: string) => void = () => {};
  let fail: (cause: unknown) => void = () => {};
  const load = () =>
    new Promise<string>((resolve, reject) => {
      open = resolve;
      fail = reject;
    });
  return { load, open: () => open(ENGINE), fail: (cause: unknown) => fail(cause) };
}

afterEach(() => vi.useRealTimers());

test("the engine is loaded before anything is asked of it, once", async () => {
  const load = vi.fn(async () => ENGINE);
  const loader = new EngineLoader(load, 5000);
  expect(load).toHaveBeenCalledOnce();
  expect(loader.engine).toBeUndefined();
  await Promise.all([loader.run("read", undefined, async () => {}), loader.run("list", undefined, async () => {})]);
  expect(loader.engine).toBe(ENGINE);
  expect(load).toHaveBeenCalledOnce();
});

test("calls begin in the order in which they were made, also around the moment at which the engine is there", async () => {
  const { load, open } = gate();
  const loader = new EngineLoader(load, 5000);
  const begun: number[] = [];
  const calls: Promise<unknown>[] = [];
  const call = () => {
    const number = calls.length;
    calls.push(loader.run("append", undefined, async () => begun.push(number)));
  };
  call();
  call();
  open();
  for (let tick = 0; tick < 20; tick += 1) {
    call();
    await Promise.resolve();
  }
  await Promise.all(calls);
  expect(begun).toEqual(Array.from({ length: 22 }, (_, number) => number));
});

test("once the engine is there, a call is the task and nothing else", async () => {
  const loader = new EngineLoader(async () => ENGINE, 5000);
  await loader.run("read", undefined, async () => {});
  const { signal } = new AbortController();
  const answer = Promise.resolve();
  const task = vi.fn(() => answer);
  expect(loader.run("append", signal, task)).toBe(answer);
  expect(task).toHaveBeenCalledExactlyOnceWith(ENGINE, { timeoutMs: 5000, signal });
});

describe("while the engine is loaded", () => {
  test("the deadline counts: what is left of it is the task's", async () => {
    vi.useFakeTimers();
    const { load, open } = gate();
    const answer = new EngineLoader(load, 5000).run("append", undefined, async (engine, limits) => [engine, limits]);
    await vi.advanceTimersByTimeAsync(2000);
    open();
    expect(await answer).toEqual([ENGINE, { timeoutMs: 3000, signal: undefined }]);
  });

  test("a call that is not begun in time is a timeout, and is never begun", async () => {
    vi.useFakeTimers();
    const { load, open } = gate();
    const loader = new EngineLoader(load, 5000);
    const task = vi.fn(async () => {});
    const late = rejection(loader.run("append", undefined, task));
    await vi.advanceTimersByTimeAsync(5000);
    expect(await late).toMatchObject({ code: "timeout", retryable: true });
    open();
    await loader.run("read", undefined, async () => {});
    expect(task).not.toHaveBeenCalled();
  });

  test("an abort rejects with its reason, and the call is never begun", async () => {
    const { load, open } = gate();
    const loader = new EngineLoader(load, 5000);
    const controller = new AbortController();
    const reason = new Error("no longer wanted");
    const task = vi.fn(async () => {});
    const before = loader.run("append", AbortSignal.abort(reason), task);
    const during = loader.run("append", controller.signal, task);
    controller.abort(reason);
    await expect(before).rejects.toBe(reason);
    await expect(during).rejects.toBe(reason);
    open();
    await loader.run("read", undefined, async () => {});
    expect(task).not.toHaveBeenCalled();
  });

  test("a signal never has two listeners of one call", async () => {
    const { load, open } = gate();
    const loader = new EngineLoader(load, 5000);
    const { signal } = new AbortController();
    let [listeners, most] = [0, 0];
    vi.spyOn(signal, "addEventListener").mockImplementation(() => {
      listeners += 1;
      most = Math.max(most, listeners);
    });
    vi.spyOn(signal, "removeEventListener").mockImplementation(() => {
      listeners -= 1;
    });
    const call = loader.run("read", signal, async () => signal.addEventListener("abort", () => {}));
    open();
    await call;
    expect([listeners, most]).toEqual([1, 1]);
  });

  test("an abort after the call has begun is the task's to answer", async () => {
    const controller = new AbortController();
    const answer = new EngineLoader(async () => ENGINE, 5000).run("append", controller.signal, async () => {
      controller.abort();
      return "stored";
    });
    expect(await answer).toBe("stored");
  });
});

describe("an engine that cannot be loaded", () => {
  test("makes every call that waits unavailable, with the cause", async () => {
    const { load, fail } = gate();
    const loader = new EngineLoader(load, 5000);
    const task = vi.fn(async () => {});
    const errors = [rejection(loader.run("append", undefined, task)), rejection(loader.run("read", undefined, task))];
    const cause = new Error("no such file");
    fail(cause);
    for (const [index, name] of ["append", "read"].entries()) {
      const error = await errors[index]!;
      expect(error).toMatchObject({ code: "unavailable", provider: "history-postgres", retryable: true });
      expect(error.message).toContain(`${name}: a part of the package could not be loaded`);
      expect(error.cause).toBe(cause);
    }
    expect(task).not.toHaveBeenCalled();
  });

  test("is no unhandled rejection where nobody calls, and is tried again by the next call", async () => {
    let attempts = 0;
    const loader = new EngineLoader(async () => {
      attempts += 1;
      if (attempts < 3) {
        throw new Error("no such file");
      }
      return ENGINE;
    }, 5000);
    // Long enough for Node to tell of what nobody handles, which fails the run of the tests.
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(attempts).toBe(1);
    expect((await rejection(loader.run("read", undefined, async () => {}))).code).toBe("unavailable");
    expect(await loader.run("read", undefined, async (engine) => engine)).toBe(ENGINE);
    expect(attempts).toBe(3);
  });
});
