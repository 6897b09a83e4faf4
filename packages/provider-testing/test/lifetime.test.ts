import { AssertionError } from "node:assert";
import { InMemoryHistoryStore } from "@agentfw/core";
import { afterEach, expect, test, vi } from "vitest";
import { historyStoreContract, type Opened, type OpenOptions, runClause, type Trial } from "../src/index.ts";
import { withLifetime } from "../src/lifetime.ts";

afterEach(() => vi.restoreAllMocks());

/** A trial without a clock that counts how often it opens, and rejects with the reason when it is not covered. */
function trialWithoutClock(): { trial: Trial<Opened>; opened: OpenOptions[] } {
  const opened: OpenOptions[] = [];
  const trial: Trial<Opened> = {
    offers: () => false,
    declares: () => true,
    notCovered: (reason, lacking) => {
      throw new Error(`not covered for want of ${lacking}: ${reason}`);
    },
    open: async (options = {}) => {
      opened.push(options);
      return { store: {} };
    },
  };
  return { trial, opened };
}

test("without a clock, a clause on expiry waits in real time", async () => {
  const clause = historyStoreContract.find(({ id }) => id === "H70");
  const open = async ({ ttlSeconds }: OpenOptions = {}) => ({ store: new InMemoryHistoryStore({ ttlSeconds }) });
  const start = performance.now();
  expect(clause && (await runClause(clause, { name: "real time", open }))).toMatchObject({ outcome: "passed" });
  expect(performance.now() - start).toBeGreaterThan(2_000);
});

test("what a machine saw that was too slow is tried again, and in the end not covered", async () => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => {
    now += 60_000;
    return now;
  });
  const { trial, opened } = trialWithoutClock();
  const late = withLifetime(trial, async (_, { pass }) => {
    await pass(0);
    throw new AssertionError({ message: "expired" });
  });
  await expect(late).rejects.toThrow(/not covered for want of advanceTime: .* too slow for lives of 2, 4, 8 seconds/);
  expect(opened.map(({ ttlSeconds }) => ttlSeconds)).toEqual([2, 4, 8]);
});

test("what a machine saw in time fails at once", async () => {
  const { trial, opened } = trialWithoutClock();
  const failing = withLifetime(trial, async (_, { pass }) => {
    await pass(0);
    throw new AssertionError({ message: "expired" });
  });
  await expect(failing).rejects.toThrow("expired");
  expect(opened).toHaveLength(1);
});
