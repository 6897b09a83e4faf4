import { afterEach, describe, expect, it, vi } from "vitest";
import { type CallProgress, connectionFailure, EngineCalls } from "../../src/backend.ts";
import { AgentFrameworkError } from "../../src/errors.ts";

const ENGINE = { name: "engine" };
const provider = "history-example";

/** Calls whose engine is there at once. */
function calls(load: () => Promise<typeof ENGINE> = async () => ENGINE): EngineCalls<typeof ENGINE> {
  return new EngineCalls({ provider, timeoutMs: 5000, load, failureOf: connectionFailure });
}

/** An engine that comes when the test says so. */
function gate() {
  let open: () => void = () => {};
  const load = () =>
    new Promise<typeof ENGINE>((resolve) => {
      open = () => resolve(ENGINE);
    });
  return { load, open: () => open() };
}

const caught = (call: Promise<unknown>) => call.then(() => "resolved").catch((error: unknown) => error);
const never = () => new Promise<never>(() => {});

afterEach(() => vi.useRealTimers());

describe("A call to an engine", () => {
  it("gets the engine and gives what the work gives, from then on without another tick", async () => {
    const engine = calls();
    expect(await engine.run("read", "read", undefined, async ({ name }) => name)).toBe("engine");
    const work = vi.fn(async () => {});
    const call = engine.run("read", "read", undefined, work);
    expect(work).toHaveBeenCalledTimes(1);
    await call;
  });

  it("whose engine cannot be loaded is unavailable", async () => {
    const cause = new Error("gone");
    const engine = calls(() => Promise.reject(cause));
    expect(await caught(engine.run("write", "append", undefined, never))).toMatchObject({ code: "unavailable", cause });
    const end = vi.fn(async () => {});
    await engine.close(end);
    expect(end).not.toHaveBeenCalled();
  });

  it("that its caller gave up while it waited for the engine is never begun", async () => {
    const { load, open } = gate();
    const engine = calls(load);
    const controller = new AbortController();
    const work = vi.fn(async () => {});
    const call = caught(engine.run("write", "append", controller.signal, work));
    controller.abort();
    expect(await call).toBe(controller.signal.reason);
    open();
    const end = vi.fn(async () => {});
    await engine.close(end);
    expect(end).toHaveBeenCalledExactlyOnceWith(ENGINE);
    expect(work).not.toHaveBeenCalled();
  });

  it("behind close is refused, and what ends the engine has the time of a call and is explained as one", async () => {
    vi.useFakeTimers();
    const engine = calls();
    const closed = caught(engine.close(() => new Promise(() => {})));
    expect(await caught(engine.run("read", "read", undefined, never))).toMatchObject({ code: "configuration" });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await closed).toMatchObject({ code: "timeout" });
    const refused = Object.assign(new Error("secret"), { code: "ECONNREFUSED" });
    const failed = await caught(calls().close(() => Promise.reject(refused)));
    expect(failed).toMatchObject({ cause: refused });
  });

  it("rejects with what a failure means, and with everything else as it is", async () => {
    const engine = calls();
    const refused = Object.assign(new Error("secret"), { code: "ECONNREFUSED" });
    const failing = (error: unknown) => caught(engine.run("write", "append", undefined, () => Promise.reject(error)));
    expect(await failing(refused)).toMatchObject({
      code: "unavailable",
      message: "[history-example] append: connection refused",
      provider,
      cause: refused,
    });
    for (const other of [new TypeError("x"), new AgentFrameworkError("conflict", "x"), undefined]) {
      expect(await failing(other)).toBe(other);
    }
  });
});

describe("A call that takes too long", () => {
  const late = async (
    kind: "read" | "write",
    work: (engine: unknown, progress: CallProgress) => Promise<void>,
    timeoutMs?: number,
  ) => {
    vi.useFakeTimers();
    const call = caught(calls().run(kind, "append", undefined, work, timeoutMs));
    await vi.advanceTimersByTimeAsync(timeoutMs ?? 5000);
    return call;
  };

  it("is a timeout when it changed nothing, and is stopped before it does", async () => {
    const steps: string[] = [];
    const work = async (_: unknown, progress: CallProgress) => {
      await new Promise((resolve) => setTimeout(resolve, 6000));
      steps.push("slow");
      progress.beforeChange();
      steps.push("changed");
    };
    expect(await late("write", work)).toMatchObject({
      code: "timeout",
      message: "[history-example] append: not done within 5000 ms; nothing was changed",
      provider,
    });
    await vi.advanceTimersByTimeAsync(2000);
    expect(steps).toEqual(["slow"]);
  });

  it("is uncertain when it changed something", async () => {
    const work = async (_: unknown, progress: CallProgress) => {
      progress.beforeChange();
      await never();
    };
    expect(await late("write", work)).toMatchObject({ code: "outcome_unknown", provider });
  });

  it("may have another limit than the others, and a read is a timeout", async () => {
    expect(await late("read", never, 100)).toMatchObject({
      code: "timeout",
      message: expect.stringContaining("100 ms"),
    });
  });
});

describe("A write that is given up or fails", () => {
  it("is the abort before its first change, and uncertain with the abort as cause from then on", async () => {
    for (const changes of [false, true]) {
      const controller = new AbortController();
      const call = caught(
        calls().run("write", "append", controller.signal, async (_, progress) => {
          if (changes) {
            progress.beforeChange();
          }
          controller.abort();
          await never();
        }),
      );
      const error = await call;
      const { reason } = controller.signal;
      expect(error).toEqual(changes ? expect.objectContaining({ code: "outcome_unknown", cause: reason }) : reason);
    }
  });

  it("after its change was made is uncertain, whatever the failure", async () => {
    const cause = Object.assign(new Error("x"), { code: "ECONNREFUSED" });
    const call = calls().run("write", "append", undefined, async (_, progress) => {
      progress.beforeChange();
      progress.afterChange();
      throw cause;
    });
    expect(await caught(call)).toMatchObject({ code: "outcome_unknown", provider, cause });
  });
});
