import { describe, expect, it } from "vitest";
import { measureSideBySide, type Plan } from "../src/blocks.ts";
import { seededRandom } from "../src/random.ts";

const plan: Plan = { runs: 2, blocks: 4, samples: 3, blockMs: 1, warmUpMs: 2 };

/** Contenders that note in which order their blocks come. */
function noted(names: readonly string[]) {
  const blocks: string[] = [];
  const contenders = names.map((name) => ({
    name,
    prepare: () => {
      blocks.push(name);
    },
    maxOperations: 2,
    operation: () => undefined,
  }));
  return { blocks, contenders };
}

describe("measureSideBySide", () => {
  it("gives one median for each contender and run, in the order in which they were given", async () => {
    const { contenders } = noted(["raw", "agentfw", "peer"]);
    const measured = await measureSideBySide(contenders, plan, seededRandom(1));
    expect(measured.map(({ contender, runMedians }) => [contender, runMedians.length])).toEqual([
      ["raw", 2],
      ["agentfw", 2],
      ["peer", 2],
    ]);
    for (const value of measured.flatMap(({ runMedians }) => runMedians)) {
      expect(value).toBeGreaterThan(0);
    }
  });

  it("lets every contender take its turn once a round, in orders of their own", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const { blocks, contenders } = noted(names);
    await measureSideBySide(contenders, { ...plan, runs: 1, blocks: 6 }, seededRandom(1));
    const measured = blocks.slice(-names.length * 6);
    const rounds = Array.from({ length: 6 }, (_, round) => measured.slice(round * 5, round * 5 + 5));
    expect(rounds.map((round) => round.toSorted())).toEqual(rounds.map(() => names));
    expect(new Set(rounds.map((round) => round.join(""))).size).toBeGreaterThan(1);
  });

  it("warms every contender up before the first block of a run", async () => {
    const { blocks, contenders } = noted(["a", "b"]);
    await measureSideBySide(contenders, { ...plan, runs: 1 }, seededRandom(1));
    const warmUp = blocks.slice(0, -2 * plan.blocks);
    expect(warmUp.filter((name) => name === "a").length).toBeGreaterThan(1);
    expect(warmUp.filter((name) => name === "b").length).toBeGreaterThan(1);
  });

  it("keeps to the most operations that a block may have", async () => {
    let inBlock = 0;
    let most = 0;
    const contender = {
      name: "raw",
      maxOperations: 7,
      prepare: () => {
        inBlock = 0;
      },
      operation: async () => {
        inBlock += 1;
        most = Math.max(most, inBlock);
      },
    };
    await measureSideBySide([contender], { ...plan, blockMs: 1000 }, seededRandom(1));
    expect(most).toBe(7);
  });

  it("waits for one operation before the next begins", async () => {
    let running = 0;
    let atOnce = 0;
    const operation = async () => {
      running += 1;
      atOnce = Math.max(atOnce, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    };
    await measureSideBySide([{ name: "raw", maxOperations: 3, operation }], plan, seededRandom(1));
    expect([running, atOnce]).toEqual([0, 1]);
  });

  it("lets round trips be counted once, made ready, after everything was timed", async () => {
    const calls: string[] = [];
    const operation = () => void calls.push("timed");
    const countRoundTrips = async () => calls.push("counted") - calls.length + 3;
    const prepare = () => void calls.push("prepared");
    const counted = { name: "raw", operation, prepare, countRoundTrips, maxOperations: 5 };
    const other = { name: "other", operation };
    const [measured] = await measureSideBySide([counted, other], plan, seededRandom(1));
    expect(measured?.roundTrips).toBe(3);
    expect(calls.slice(-2)).toEqual(["prepared", "counted"]);
    expect(calls.filter((call) => call === "counted")).toHaveLength(1);
    const [uncounted] = await measureSideBySide([{ name: "raw", operation }], plan, seededRandom(1));
    expect(uncounted?.roundTrips).toBeUndefined();
  });

  it("takes the word of what is timed elsewhere", async () => {
    const times = [5, 1, 3, 20, 10, 30];
    const sample = async () => times.shift() ?? Number.NaN;
    const [measured] = await measureSideBySide([{ name: "raw", sample }], plan, seededRandom(1));
    expect(measured?.runMedians).toEqual([3, 20]);
    expect(times).toEqual([]);
  });

  it("ends when an operation fails", async () => {
    const operation = () => Promise.reject(new TypeError("broken"));
    await expect(measureSideBySide([{ name: "raw", operation }], plan, seededRandom(1))).rejects.toThrow("broken");
  });
});
