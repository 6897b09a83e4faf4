import { describe, expect, it } from "vitest";
import { LeasedCalls, type LeasedFailure } from "../../src/backend.ts";
import { AgentFrameworkError, isAgentFrameworkError } from "../../src/index.ts";

type Fate = LeasedFailure["fate"];

/** What the server says to one request: an answer, a failure, or nothing. */
type Said = string | { readonly fate: Fate; readonly code?: LeasedFailure["code"] } | "silence";

/** A driver's error of a kind that `failureOf` knows. */
class Failure extends Error {
  readonly fate: Fate;
  readonly code: LeasedFailure["code"];

  constructor({ fate, code = "unavailable" }: { readonly fate: Fate; readonly code?: LeasedFailure["code"] }) {
    super(`the driver's own words: ${fate}`);
    this.fate = fate;
    this.code = code;
  }
}

function failureOf(error: unknown): LeasedFailure {
  const [fate, code] = error instanceof Failure ? [error.fate, error.code] : (["unclear", "unavailable"] as const);
  const isAnswer = fate === "refused" || fate === "undone";
  return { fate, code, reason: "words of the backend", isAnswer, endsConnection: !isAnswer };
}

/** Connections that say one thing after another, and what became of them. */
function serverThatSays(said: Said[], { reconnects = true, lend = async () => {}, end = async () => {} } = {}) {
  const seen = { sent: [] as string[], released: [] as boolean[], leases: 0, closed: 0 };
  const connection = {
    reconnects,
    async lease() {
      seen.leases += 1;
      await lend();
      return {
        async send(request: string): Promise<string> {
          seen.sent.push(request);
          const next = said.shift() ?? "silence";
          if (next === "silence") {
            return new Promise(() => {});
          }
          if (typeof next === "string") {
            return next;
          }
          throw new Failure(next);
        },
        release(destroy: boolean) {
          seen.released.push(destroy);
        },
      };
    },
    async close() {
      seen.closed += 1;
      await end();
    },
  };
  const calls = new LeasedCalls("history-test", connection, failureOf);
  const run = (
    request: string,
    {
      kind = "read",
      mayRepeat = false,
      timeoutMs = 10_000,
      signal,
      ready,
    }: {
      kind?: "read" | "write";
      mayRepeat?: boolean;
      timeoutMs?: number;
      signal?: AbortSignal;
      ready?: () => Promise<void>;
    } = {},
  ) => calls.run({ name: "append", kind, mayRepeat, request }, { timeoutMs, signal }, ready);
  return { seen, run, calls };
}

async function errorOf(call: Promise<unknown>): Promise<AgentFrameworkError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (isAgentFrameworkError(error)) {
    return error;
  }
  throw error;
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 25_000;
  while (!holds()) {
    if (Date.now() > deadline) {
      throw new Error("not in time");
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

describe("A call", () => {
  it("takes one connection, and gives it back with the answer", async () => {
    const { seen, run } = serverThatSays(["one"]);
    expect(await run("a")).toEqual({ reply: "one", isRepetition: false });
    expect(seen).toEqual({ sent: ["a"], released: [false], leases: 1, closed: 0 });
  });

  it("is told what a refusal means, signed and with the driver's error as its cause, and keeps the connection", async () => {
    const { seen, run } = serverThatSays([{ fate: "refused", code: "unauthorized" }]);
    const error = await errorOf(run("a", { kind: "write", mayRepeat: true }));
    expect(error).toMatchObject({ code: "unauthorized", provider: "history-test", cause: expect.any(Failure) });
    expect(error.message).toBe("[history-test] append: words of the backend");
    expect(seen.released).toEqual([false]);
  });

  it("is tried again where others undid it, also at first and without another connection", async () => {
    const { seen, run } = serverThatSays([{ fate: "undone" }, { fate: "undone" }, "one"], { reconnects: false });
    expect(await run("a", { kind: "write" })).toEqual({ reply: "one", isRepetition: false });
    expect(seen.sent).toEqual(["a", "a", "a"]);
  });

  it("passes errors of the framework on as they are", async () => {
    const mine = new AgentFrameworkError("configuration", "pool: lends nothing");
    const { run } = serverThatSays([], { lend: () => Promise.reject(mine) });
    expect(await errorOf(run("a"))).toBe(mine);
  });
});

describe("A connection that ends", () => {
  it("under a request that may be repeated is replaced, and the answer is known to be of a repetition", async () => {
    const { seen, run } = serverThatSays(["one", { fate: "lost" }, "two"]);
    await run("a");
    expect(await run("b", { kind: "write", mayRepeat: true })).toEqual({ reply: "two", isRepetition: true });
    expect(seen).toEqual({ sent: ["a", "b", "b"], released: [false, true, false], leases: 3, closed: 0 });
  });

  it("without having been given the request is replaced, also where that may not be repeated", async () => {
    const { run } = serverThatSays(["one", { fate: "passing" }, "two"]);
    await run("a");
    expect(await run("b", { kind: "write" })).toEqual({ reply: "two", isRepetition: false });
  });

  it.each(["lost", "unclear"] as const)(
    "under a write that may not be repeated leaves its outcome unknown: %s",
    async (fate) => {
      const { seen, run } = serverThatSays(["one", { fate }]);
      await run("a");
      const error = await errorOf(run("b", { kind: "write" }));
      expect(error).toMatchObject({ code: "outcome_unknown", cause: expect.any(Failure), provider: "history-test" });
      expect(seen.sent).toEqual(["a", "b"]);
    },
  );

  it("under a read, or where there is no other, is unavailable", async () => {
    const { seen, run } = serverThatSays(["one", { fate: "lost" }], { reconnects: false });
    await run("a");
    expect(await errorOf(run("b", { mayRepeat: true }))).toMatchObject({ code: "unavailable" });
    expect(seen.sent).toEqual(["a", "b"]);
  });
});

describe("A server that is not there", () => {
  it("at the first call is told at once, and later waited for", async () => {
    let isUp = false;
    const lend = async () => {
      if (!isUp) {
        throw new Failure({ fate: "unclear" });
      }
    };
    const { seen, run } = serverThatSays(["one", "two"], { lend });
    expect(await errorOf(run("a", { kind: "write" }))).toMatchObject({ code: "unavailable" });
    expect(seen.leases).toBe(1);
    isUp = true;
    await run("a");
    isUp = false;
    const waiting = run("b", { kind: "write" });
    await until(() => seen.leases > 3);
    isUp = true;
    expect(await waiting).toEqual({ reply: "two", isRepetition: false });
  });
});

describe("A call that takes too long", () => {
  it("ends its connection; a write has an unknown outcome, and a read none", async () => {
    const { seen, run } = serverThatSays(["silence", "silence"]);
    expect(await errorOf(run("a", { kind: "write", timeoutMs: 20 }))).toMatchObject({ code: "outcome_unknown" });
    expect(await errorOf(run("b", { timeoutMs: 20 }))).toMatchObject({ code: "timeout" });
    expect(seen.released).toEqual([true, true]);
  });

  it("for want of a connection has written nothing, and never does", async () => {
    let lend: () => void = () => {};
    const lent = new Promise<void>((resolve) => {
      lend = resolve;
    });
    const { seen, run } = serverThatSays(["one"], { lend: () => lent });
    expect(await errorOf(run("a", { kind: "write", timeoutMs: 20 }))).toMatchObject({ code: "timeout" });
    lend();
    await until(() => seen.released.length === 1);
    expect(seen).toEqual({ sent: [], released: [false], leases: 1, closed: 0 });
  });

  it("waits within its time for what must be there first, and sends nothing without it", async () => {
    const { seen, run } = serverThatSays(["one"]);
    const never = () => new Promise<void>(() => {});
    expect(await errorOf(run("a", { kind: "write", timeoutMs: 20, ready: never }))).toMatchObject({ code: "timeout" });
    const missing = new AgentFrameworkError("configuration", "schema: is not there");
    expect(await errorOf(run("a", { ready: () => Promise.reject(missing) }))).toBe(missing);
    expect(seen.leases).toBe(0);
    expect(await run("a", { ready: async () => {} })).toEqual({ reply: "one", isRepetition: false });
  });
});

describe("An abort", () => {
  it("is the reason of a read and the cause of a write's unknown outcome, and the connection ends later", async () => {
    for (const kind of ["read", "write"] as const) {
      const { seen, run } = serverThatSays(["silence"]);
      const controller = new AbortController();
      const call = run("a", { kind, timeoutMs: 500, signal: controller.signal });
      const settled = call.catch((error: unknown) => error);
      await until(() => seen.sent.length === 1);
      const reason = new Error("enough");
      controller.abort(reason);
      const error = await settled;
      expect(kind === "read" ? error : isAgentFrameworkError(error, "outcome_unknown") && error.cause).toBe(reason);
      expect(seen.released).toEqual([]);
      await until(() => seen.released.length === 1);
      expect(seen.released).toEqual([true]);
    }
  });

  it("before the call sends nothing", async () => {
    const { seen, run } = serverThatSays(["one"]);
    const reason = new Error("enough");
    await expect(run("a", { kind: "write", signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(seen.leases).toBe(0);
  });
});

describe("The end", () => {
  it("comes behind the calls that were made before, those that wait for a connection included", async () => {
    let lendNext = () => {};
    const lend = () =>
      new Promise<void>((resolve) => {
        lendNext = resolve;
      });
    const { seen, run, calls } = serverThatSays(["one"], { lend });
    const call = run("a");
    const closed = calls.close(10_000);
    await until(() => seen.leases === 1);
    expect(seen.closed).toBe(0);
    lendNext();
    expect((await call).reply).toBe("one");
    await closed;
    expect([seen.closed, seen.released]).toEqual([1, [false]]);
  });

  it("does not wait for longer than it is told, for a call or for the connection, and never rejects", async () => {
    const silent = serverThatSays(["silence"]);
    const call = silent.run("a", { timeoutMs: 600 }).catch((error: unknown) => error);
    await silent.calls.close(50);
    expect(silent.seen.closed).toBe(1);
    expect(silent.seen.released).toEqual([]);
    await call;
    for (const end of [() => new Promise<void>(() => {}), () => Promise.reject(new Error("gone"))]) {
      const { seen, calls } = serverThatSays([], { end });
      await calls.close(50);
      expect(seen.closed).toBe(1);
    }
  });

  it("waits no longer for the calls under way when it is closed twice", async () => {
    let finish = () => {};
    const { run, calls, seen } = serverThatSays(["done"], {
      lend: () => new Promise<void>((resolve) => (finish = () => resolve())),
    });
    const call = run("a");
    await Promise.resolve();
    const start = performance.now();
    const closings = [calls.close(2000), calls.close(2000)];
    finish();
    await call;
    await Promise.all(closings);
    expect(performance.now() - start).toBeLessThan(1000);
    expect(seen.sent).toEqual(["a"]);
  });
});
