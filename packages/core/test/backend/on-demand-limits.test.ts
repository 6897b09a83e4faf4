import { afterEach, describe, expect, it, vi } from "vitest";
import { OnDemand } from "../../src/backend/on-demand.ts";

const PART = "part";

/** A load that ends when the test says so. */
function gate() {
  let open: (part: string) => void = () => {};
  const load = () =>
    new Promise<string>((resolve) => {
      open = resolve;
    });
  return { load, open: () => open(PART) };
}

const caught = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error);

afterEach(() => vi.useRealTimers());

describe("While the part is loaded, a call within limits", () => {
  it("the deadline counts: what is left of it is the task's", async () => {
    vi.useFakeTimers();
    const { load, open } = gate();
    const answer = new OnDemand("history-example", load).runWithin(
      "append",
      { timeoutMs: 5000, signal: undefined },
      async (engine, limits) => [engine, limits],
    );
    await vi.advanceTimersByTimeAsync(2000);
    open();
    expect(await answer).toEqual([PART, { timeoutMs: 3000, signal: undefined }]);
  });

  it("a call that is not begun in time is a timeout, and is never begun", async () => {
    vi.useFakeTimers();
    const { load, open } = gate();
    const onDemand = new OnDemand("history-example", load);
    const task = vi.fn(async () => {});
    const late = caught(onDemand.runWithin("append", { timeoutMs: 5000, signal: undefined }, task));
    await vi.advanceTimersByTimeAsync(5000);
    expect(await late).toMatchObject({ code: "timeout", retryable: true });
    open();
    await onDemand.run("read", async () => {});
    expect(task).not.toHaveBeenCalled();
  });

  it("an abort rejects with its reason, and the call is never begun", async () => {
    const { load, open } = gate();
    const onDemand = new OnDemand("history-example", load);
    const controller = new AbortController();
    const reason = new Error("no longer wanted");
    const task = vi.fn(async () => {});
    const before = onDemand.runWithin("append", { timeoutMs: 5000, signal: AbortSignal.abort(reason) }, task);
    const during = onDemand.runWithin("append", { timeoutMs: 5000, signal: controller.signal }, task);
    controller.abort(reason);
    await expect(before).rejects.toBe(reason);
    await expect(during).rejects.toBe(reason);
    open();
    await onDemand.run("read", async () => {});
    expect(task).not.toHaveBeenCalled();
  });

  it("a signal never has two listeners of one call", async () => {
    const { load, open } = gate();
    const onDemand = new OnDemand("history-example", load);
    const { signal } = new AbortController();
    let [listeners, most] = [0, 0];
    vi.spyOn(signal, "addEventListener").mockImplementation(() => {
      listeners += 1;
      most = Math.max(most, listeners);
    });
    vi.spyOn(signal, "removeEventListener").mockImplementation(() => {
      listeners -= 1;
    });
    const call = onDemand.runWithin("read", { timeoutMs: 5000, signal }, async () =>
      signal.addEventListener("abort", () => {}),
    );
    open();
    await call;
    expect([listeners, most]).toEqual([1, 1]);
  });

  it("an abort after the call has begun is the task's to answer", async () => {
    const controller = new AbortController();
    const answer = new OnDemand("history-example", async () => PART).runWithin(
      "append",
      { timeoutMs: 5000, signal: controller.signal },
      async () => {
        controller.abort();
        return "stored";
      },
    );
    expect(await answer).toBe("stored");
  });
});

describe("Once the part is there, a call within limits", () => {
  it("is the work and nothing else", async () => {
    const onDemand = new OnDemand("history-example", async () => PART);
    await onDemand.run("read", async () => {});
    const { signal } = new AbortController();
    const answer = Promise.resolve();
    const work = vi.fn(() => answer);
    expect(onDemand.runWithin("append", { timeoutMs: 5000, signal }, work)).toBe(answer);
    expect(work).toHaveBeenCalledExactlyOnceWith(PART, { timeoutMs: 5000, signal });
  });
});

describe("What ends a provider", () => {
  it("does not wait for the part longer than it says, and never rejects", async () => {
    vi.useFakeTimers();
    const onDemand = new OnDemand("history-example", () => new Promise<string>(() => {}));
    void onDemand.run("append", async () => {});
    let isSettled = false;
    const settled = onDemand.close(5000).then(() => {
      isSettled = true;
    });
    await vi.advanceTimersByTimeAsync(4999);
    expect(isSettled).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await settled;
  });
});
