import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { OnDemand } from "../../src/backend/on-demand.ts";

/** A part that is there, or cannot be, when the test says so. */
function controlled() {
  let resolve = (_: string): void => undefined;
  let reject = (_: unknown): void => undefined;
  const promise = new Promise<string>((...settle) => {
    [resolve, reject] = settle;
  });
  let loads = 0;
  const onDemand = new OnDemand("history-example", () => {
    loads += 1;
    return promise;
  });
  return { onDemand, resolve, reject, loads: () => loads };
}

describe("A part that is loaded on demand", () => {
  it("begins to load when it is made, is loaded once, and is there afterwards", async () => {
    const { onDemand, resolve, loads } = controlled();
    expect(loads()).toBe(1);
    expect(onDemand.loaded).toBeUndefined();
    const results = ["a", "b"].map((name) => onDemand.run(name, async (part) => `${name} ${part}`));
    resolve("part");
    expect(await Promise.all(results)).toEqual(["a part", "b part"]);
    expect(onDemand.loaded).toBe("part");
    expect(loads()).toBe(1);
  });

  it.each([0, 1, 2, 3, 4, 5, 6])(
    "begins what waits for it in the order of the calls, whatever moment loading ends in: %i before that",
    async (moments) => {
      const { onDemand, resolve } = controlled();
      const begun: number[] = [];
      const numbers = Array.from({ length: 30 }, (_, number) => number);
      const all: Promise<unknown>[] = [];
      for (const number of numbers) {
        if (number === moments) {
          resolve("part");
        }
        all.push(onDemand.run("call", async () => begun.push(number)));
        // Each is made one tick after the other, so one of them comes right when the part does.
        await undefined;
      }
      await Promise.all(all);
      expect(begun).toEqual(numbers);
    },
  );

  it("keeps that order also for those who hear of the end of loading before it does", async () => {
    let finish = (_: string): void => undefined;
    const loading = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const begun: string[] = [];
    const calls: Promise<unknown>[] = [];
    const run = (name: string) => calls.push(onDemand.run(name, async () => begun.push(name)));
    const early = loading.then(() => run("early"));
    const onDemand = new OnDemand("history-example", () => loading);
    run("waiting");
    const late = loading.then(() => run("late"));
    finish("part");
    await Promise.all([early, late]);
    await Promise.all(calls);
    expect(begun).toEqual(["waiting", "early", "late"]);
  });

  it("begins what waits in the context of its call, as what runs at once", async () => {
    const { onDemand, resolve } = controlled();
    const caller = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const run = (name: string) => caller.run(name, () => onDemand.run(name, async () => seen.push(caller.getStore())));
    const calls = [run("a"), run("b")];
    resolve("part");
    await Promise.all(calls);
    await run("c");
    expect(seen).toEqual(["a", "b", "c"]);
  });

  it("runs at once what finds it there", async () => {
    const { onDemand, resolve } = controlled();
    resolve("part");
    await onDemand.run("first", async () => undefined);
    let hasRun = false;
    const running = onDemand.run("second", async () => {
      hasRun = true;
    });
    expect(hasRun).toBe(true);
    await running;
  });

  it("rejects what waits for it with unavailable and the cause when it cannot be loaded", async () => {
    const { onDemand, reject } = controlled();
    const cause = new Error("no such file");
    let hasRun = false;
    const results = ["a", "b"].map((name) =>
      onDemand.run(name, async () => {
        hasRun = true;
      }),
    );
    reject(cause);
    const told = ["a", "b"].map((name, index) =>
      expect(results[index]).rejects.toMatchObject({
        code: "unavailable",
        provider: "history-example",
        message: `[history-example] ${name}: a part of the package could not be loaded`,
        cause,
      }),
    );
    await Promise.all(told);
    expect(hasRun).toBe(false);
  });

  it("says nothing when nobody needs it and it cannot be loaded, and is loaded again for the next who does", async () => {
    let loads = 0;
    const onDemand = new OnDemand("history-example", async () => {
      loads += 1;
      if (loads === 1) {
        throw new Error("too many open files");
      }
      return "part";
    });
    // A rejection that nobody hears of would end the test run.
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await onDemand.run("read", async (part) => part)).toBe("part");
    expect(loads).toBe(2);
  });

  it("is not used any more after it is closed: a call rejects as the caller's mistake, and is not begun", async () => {
    for (const isThere of [true, false]) {
      const { onDemand, resolve } = controlled();
      if (isThere) {
        resolve("part");
        await onDemand.run("a", async () => undefined);
      }
      expect(await onDemand.close(20_000)).toBe(isThere ? "part" : undefined);
      const begun: string[] = [];
      const limits = { timeoutMs: 20_000, signal: undefined };
      const refused = {
        code: "configuration",
        message: "[history-example] append: called after close()",
        retryable: false,
      };
      const work = async (part: string) => begun.push(part);
      await expect(onDemand.run("append", work)).rejects.toMatchObject(refused);
      await expect(onDemand.runWithin("append", limits, work)).rejects.toMatchObject(refused);
      resolve("part");
      expect(await onDemand.close(20_000)).toBe("part");
      expect(begun).toEqual([]);
    }
  });

  it("is given to who closes it when all that was called before has begun, and not only when it is there", async () => {
    const { onDemand, resolve } = controlled();
    const told: string[] = [];
    const waiting = ["a", "b"].map((name) => onDemand.run(name, async () => told.push(name)));
    const closed = onDemand.close(20_000).then((part) => told.push(`closed ${part}`));
    await expect(onDemand.run("behind", async () => told.push("behind"))).rejects.toMatchObject({
      code: "configuration",
    });
    expect(told).toEqual([]);
    resolve("part");
    await Promise.all([...waiting, closed]);
    expect(told).toEqual(["a", "b", "closed part"]);
  });

  it("is closed when loading has ended, whichever way, behind all that waited for it", async () => {
    for (const isGood of [true, false]) {
      const { onDemand, resolve, reject } = controlled();
      const told: string[] = [];
      const waiting = onDemand.run("a", async () => told.push("begun")).catch(() => told.push("failed"));
      const closed = onDemand.close(20_000).then((part) => told.push(`closed with ${part}`));
      await Promise.resolve();
      expect(told).toEqual([]);
      if (isGood) {
        resolve("part");
      } else {
        reject(new Error("no such file"));
      }
      await Promise.all([waiting, closed]);
      expect(told).toEqual([isGood ? "begun" : "failed", `closed with ${isGood ? "part" : undefined}`]);
    }
  });

  it("takes a load that throws for one that rejects, and is as good as new after it", async () => {
    const loads = [
      () => Promise.reject(new Error("first")),
      () => {
        throw new Error("second");
      },
      async () => "part",
    ];
    const onDemand = new OnDemand<string>(
      "history-example",
      () => loads.shift()?.() ?? Promise.reject(new Error("last")),
    );
    await new Promise((resolve) => setTimeout(resolve, 1));
    await expect(onDemand.run("a", async () => undefined)).rejects.toMatchObject({ cause: { message: "second" } });
    expect(await onDemand.run("b", async (part) => part)).toBe("part");
    expect(await onDemand.close(20_000)).toBe("part");
  });

  it("makes a rejection of what the work throws, whether it waited or not", async () => {
    const { onDemand, resolve } = controlled();
    const failure = new Error("refused");
    const work = (): Promise<void> => {
      throw failure;
    };
    const waiting = onDemand.run("a", work);
    resolve("part");
    await expect(waiting).rejects.toBe(failure);
    await expect(onDemand.run("b", work)).rejects.toBe(failure);
  });

  it("hands on what the work rejects with", async () => {
    const { onDemand, resolve } = controlled();
    const failure = new Error("refused");
    const waiting = onDemand.run("a", () => Promise.reject(failure));
    resolve("part");
    await expect(waiting).rejects.toBe(failure);
    await expect(onDemand.run("b", () => Promise.reject(failure))).rejects.toBe(failure);
  });
});
