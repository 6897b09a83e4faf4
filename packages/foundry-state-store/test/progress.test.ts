import { describe, expect, it } from "vitest";
import { type Progress, runWithProgress } from "../src/progress.ts";

const LATE = { kind: "write", provider: "mine", timeoutMs: 10 } as const;

const PATIENT = { ...LATE, timeoutMs: 60_000 };

function never(): Promise<never> {
  return new Promise(() => {});
}

async function failure(call: Promise<unknown>): Promise<Error & { code?: string; provider?: string; cause?: unknown }> {
  return call.then(
    () => {
      throw new Error("the call succeeded");
    },
    (error: Error) => error,
  );
}

describe("A call of several steps", () => {
  it("gives what its work gives, and is over then", async () => {
    let seen: Progress | undefined;
    const result = await runWithProgress("write", PATIENT, async (progress) => {
      seen = progress;
      progress.hasChanged = true;
      progress.assertWanted();
      return 5;
    });
    expect([result, seen?.signal.aborted]).toEqual([5, true]);
    expect(() => seen?.assertWanted()).toThrow(/given up/);
  });

  it("that is late is a timeout while nothing was written, and of unknown outcome from then on", async () => {
    const before = await failure(runWithProgress("write", LATE, never));
    expect(before).toMatchObject({ code: "timeout", provider: "mine", message: expect.stringContaining("write") });
    let seen: Progress | undefined;
    const after = await failure(
      runWithProgress("write", LATE, (progress) => {
        seen = progress;
        progress.hasChanged = true;
        return never();
      }),
    );
    expect(after).toMatchObject({ code: "outcome_unknown", provider: "mine" });
    expect(seen?.signal.aborted).toBe(true);
    const taken = await failure(
      runWithProgress("write", LATE, (progress) => {
        progress.hasChanged = true;
        progress.hasChanged = false;
        return never();
      }),
    );
    expect(taken).toMatchObject({ code: "timeout" });
  });

  it("that is aborted ends with the abort while nothing was written, and is of unknown outcome from then on", async () => {
    const reason = new Error("enough");
    for (const hasChanged of [false, true]) {
      const stop = new AbortController();
      const call = failure(
        runWithProgress("write", { ...PATIENT, signal: stop.signal }, (progress) => {
          progress.hasChanged = hasChanged;
          return never();
        }),
      );
      stop.abort(reason);
      expect(await call).toEqual(
        hasChanged ? expect.objectContaining({ code: "outcome_unknown", cause: reason }) : reason,
      );
    }
  });

  it("that fails does so with its error while nothing was written, and with it as the cause from then on", async () => {
    const error = new Error("broken");
    for (const hasChanged of [false, true]) {
      const failed = await failure(
        runWithProgress("write", PATIENT, async (progress) => {
          progress.hasChanged = hasChanged;
          throw error;
        }),
      );
      expect(failed).toEqual(hasChanged ? expect.objectContaining({ code: "outcome_unknown", cause: error }) : error);
    }
  });

  it("that reads is a timeout when it is late", async () => {
    expect(await failure(runWithProgress("read", { ...LATE, kind: "read" }, never))).toMatchObject({ code: "timeout" });
  });
});
