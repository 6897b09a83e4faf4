import { AgentFrameworkError } from "@agentfw/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runSteps, type StepFailure, type SteppedCall } from "../src/stepped-call.ts";

/** An error of a driver, and what it means. */
class DriverError extends Error {
  readonly fate: StepFailure["fate"];
  readonly retryAfterMs: number | undefined;

  constructor(fate: StepFailure["fate"], retryAfterMs?: number) {
    super("words of the driver");
    this.fate = fate;
    this.retryAfterMs = retryAfterMs;
  }
}

function failureOf(error: unknown): StepFailure {
  const { fate, retryAfterMs } = error instanceof DriverError ? error : new DriverError("lost");
  return { code: "unavailable", reason: `it was ${fate}`, position: "here", fate, retryAfterMs };
}

function run<Result>(
  body: (call: SteppedCall) => Promise<Result>,
  { timeoutMs = 20_000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<Result> {
  return runSteps("append", { provider: "history-example", timeoutMs, signal, failureOf }, body);
}

/** A request that fails so often, and counts how often it was sent. */
function failing(error: unknown, times: number) {
  const request = {
    sent: 0,
    send: async () => {
      request.sent += 1;
      if (request.sent <= times) {
        throw error;
      }
      return "answer";
    },
  };
  return request;
}

afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => undefined);

describe("A request of a call of several steps", () => {
  it.each(["busy", "lost"] as const)("that was %s is sent again, up to four times", async (fate) => {
    const passing = failing(new DriverError(fate), 3);
    expect(await run((call) => call.send(passing.send))).toBe("answer");
    expect(passing.sent).toBe(4);
    const lasting = failing(new DriverError(fate), 9);
    await expect(run((call) => call.send(lasting.send))).rejects.toMatchObject({ code: "unavailable" });
    expect(lasting.sent).toBe(4);
  });

  it.each([new DriverError("refused"), new DriverError("unmet"), new AgentFrameworkError("corrupt", "cut")])(
    "is sent once where another try would end as the first did: %o",
    async (error) => {
      const request = failing(error, 1);
      await run(async (call) => {
        await expect(call.send(request.send)).rejects.toBe(error);
      });
      expect(request.sent).toBe(1);
    },
  );

  it("waits as long as the service asks", async () => {
    vi.useFakeTimers();
    const asked = failing(new DriverError("busy", 300), 1);
    const answer = run((call) => call.send(asked.send));
    await vi.advanceTimersByTimeAsync(299);
    expect(asked.sent).toBe(1);
    await vi.advanceTimersByTimeAsync(2);
    expect(asked.sent).toBe(2);
    expect(await answer).toBe("answer");
  });

  it("is not sent again where there is no time to wait as long as the service asks", async () => {
    const asked = failing(new DriverError("busy", 60_000), 1);
    await expect(run((call) => call.send(asked.send))).rejects.toMatchObject({ code: "unavailable" });
    expect(asked.sent).toBe(1);
  });

  it("is not sent by a call that is over", async () => {
    let call: SteppedCall | undefined;
    await expect(
      run(
        (begun) => {
          call = begun;
          return never();
        },
        { timeoutMs: 20 },
      ),
    ).rejects.toMatchObject({ code: "timeout" });
    expect(call?.signal.aborted).toBe(true);
    const late = failing(undefined, 0);
    await expect(call?.send(late.send)).rejects.toBeInstanceOf(Error);
    await expect(call?.pause(1)).rejects.toBeInstanceOf(Error);
    expect(late.sent).toBe(0);
  });
});

describe("A call of several steps that fails", () => {
  it("tells what the driver's error means, where it was, and the error as its cause", async () => {
    const cause = new DriverError("refused");
    const error = { code: "unavailable", provider: "history-example", position: "here", cause };
    await expect(run((call) => call.send(failing(cause, 1).send))).rejects.toMatchObject({
      ...error,
      message: "[history-example] append: it was refused",
    });
  });

  it("passes on errors of the framework as they are", async () => {
    const ours = new AgentFrameworkError("conflict", "another writer came first");
    await expect(run(() => Promise.reject(ours))).rejects.toBe(ours);
  });

  it("is of unknown outcome when the answer to a request that decides was lost", async () => {
    const lost = failing(new DriverError("lost"), 9);
    await expect(run((call) => call.send(lost.send, true))).rejects.toMatchObject({ code: "outcome_unknown" });
    // The next try may be told that something else is stored by now: what the first one has stored.
    let sent = 0;
    const twice = async () => {
      sent += 1;
      throw new DriverError(sent === 1 ? "lost" : "unmet");
    };
    await expect(run((call) => call.send(twice, true))).rejects.toMatchObject({ code: "outcome_unknown" });
    const unmet = failing(new DriverError("unmet"), 1);
    await expect(run((call) => call.send(unmet.send, true))).rejects.toMatchObject({ code: "outcome_unknown" });
  });

  it.each(["busy", "refused"] as const)("has changed nothing when what decides was %s", async (fate) => {
    const request = failing(new DriverError(fate), 9);
    await expect(run((call) => call.send(request.send, true))).rejects.toMatchObject({ code: "unavailable" });
  });

  it("has changed nothing when it was found out what became of the request, or another one was lost", async () => {
    const later = new DriverError("refused");
    const found = async (call: SteppedCall) => {
      await call.send(failing(new DriverError("lost"), 9).send, true).catch(() => undefined);
      call.settle();
      return call.send(failing(later, 1).send);
    };
    await expect(run(found)).rejects.toMatchObject({ code: "unavailable", cause: later });
    const other = failing(new DriverError("lost"), 9);
    await expect(run((call) => call.send(other.send))).rejects.toMatchObject({ code: "unavailable" });
  });

  it("after its change was made is of unknown outcome, unless it was refused the rest", async () => {
    const failed = (error: unknown) =>
      run((call) => {
        call.done();
        return call.send(failing(error, 9).send);
      });
    await expect(failed(new DriverError("unmet"))).rejects.toMatchObject({ code: "outcome_unknown" });
    await expect(failed(new DriverError("lost"))).rejects.toMatchObject({ code: "outcome_unknown" });
    await expect(failed(new DriverError("refused"))).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("A call of several steps that is late or aborted", () => {
  const reason = new Error("the user went away");

  it("ends with the time or the reason while nothing was sent that decides", async () => {
    await expect(run((call) => call.send(never), { timeoutMs: 20 })).rejects.toMatchObject({ code: "timeout" });
    const controller = new AbortController();
    const aborted = run((call) => call.send(never), { signal: controller.signal });
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
  });

  it("is of unknown outcome while what decides is under way, or was done", async () => {
    const late = run((call) => call.send(never, true), { timeoutMs: 20 });
    await expect(late).rejects.toMatchObject({ code: "outcome_unknown" });
    const controller = new AbortController();
    const aborted = run(
      (call) => {
        call.done();
        return call.send(never);
      },
      { signal: controller.signal },
    );
    controller.abort(reason);
    await expect(aborted).rejects.toMatchObject({ code: "outcome_unknown", cause: reason });
  });

  it("tells what the last try ran into, but not that others came first", async () => {
    const problem = new DriverError("busy", 10);
    const busy = run(
      async (call) => {
        await call.send(failing(problem, 9).send).catch(() => undefined);
        return never();
      },
      { timeoutMs: 2_000 },
    );
    await expect(busy).rejects.toMatchObject({ code: "unavailable", cause: problem });
    const unmet = run(
      async (call) => {
        await call.send(failing(new DriverError("unmet"), 9).send).catch(() => undefined);
        return never();
      },
      { timeoutMs: 20 },
    );
    await expect(unmet).rejects.toMatchObject({ code: "timeout" });
  });
});
