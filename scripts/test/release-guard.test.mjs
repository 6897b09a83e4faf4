import { expect, it } from "vitest";
import { guardProblems, isBreakingStep } from "../lib/release/guard.mjs";

const manifest = (version, range, more = {}) => ({ version, peerDependencies: { "@agentfw/core": range, ...more } });
const step = (before, after) => ({ name: "@agentfw/history-redis", before, after });
const problems = (before, after, core) => guardProblems([step(before, after)], new Map([["@agentfw/core", core]]));

it.each([
  ["stays", ["1.1.0", "^1.4.0"], ["1.1.1", "^1.4.0"], "1.4.3"],
  ["has a floor that rises within its major", ["1.1.0", "^1.4.0"], ["1.2.0", "^1.6.0"], "1.6.0"],
  ["moves with the package's own major", ["1.1.0", "^1.4.0"], ["2.0.0", "^2.0.0"], "2.0.0"],
  ["moves below 1.0.0 with the package's own minor", ["0.1.0", "^0.1.0"], ["0.2.0", "^0.2.0"], "0.2.0"],
  ["moves from below 1.0.0 with the package's own 1.0.0", ["0.1.3", "^0.1.0"], ["1.0.0", "^1.0.0"], "1.0.0"],
])("accepts a peer that %s", (_, before, after, core) => {
  expect(problems(manifest(...before), manifest(...after), core)).toEqual([]);
});

it.each([
  ["a major in a patch", ["1.1.0", "^1.4.0"], ["1.1.1", "^2.0.0"], "2.0.0"],
  ["a major in a minor", ["1.1.0", "^1.4.0"], ["1.2.0", "^2.0.0"], "2.0.0"],
  ["a minor below 1.0.0 in a patch", ["0.1.0", "^0.1.0"], ["0.1.1", "^0.2.0"], "0.2.0"],
  ["a major without any release of the package", ["1.1.0", "^1.4.0"], ["1.1.0", "^2.0.0"], "2.0.0"],
])("refuses a peer that moves %s", (_, before, after, core) => {
  expect(problems(manifest(...before), manifest(...after), core)).toEqual([
    expect.stringMatching(/^@agentfw\/history-redis moves its peer @agentfw\/core from .* must say .*: major$/),
  ]);
});

it("looks at the peers of others too", () => {
  const before = manifest("1.1.0", "^1.4.0", { vitest: ">=3", zod: "^3.0.0 || ^4.0.0" });
  const wider = manifest("1.2.0", "^1.4.0", { vitest: ">=3", zod: "^3.0.0 || ^4.0.0 || ^5.0.0" });
  const narrower = manifest("1.2.0", "^1.4.0", { vitest: ">=4", zod: "^4.0.0" });
  expect(problems(before, wider, "1.4.2")).toEqual([]);
  expect(problems(before, narrower, "1.4.2")).toEqual([
    expect.stringContaining("moves its peer vitest from >=3 to >=4"),
    expect.stringContaining("moves its peer zod from"),
  ]);
});

it.each(["workspace:^", "*", ">=1.4.0", "^1.4"])("refuses %s as what a package says of core", (range) => {
  expect(problems(manifest("1.1.0", range), manifest("1.1.1", range), "1.4.2")).toEqual([
    expect.stringContaining("must say the oldest @agentfw/core"),
  ]);
});

it("refuses a package that does not take the core that is released with it", () => {
  expect(problems(manifest("1.1.0", "^1.4.0"), manifest("1.1.1", "^1.4.0"), "2.0.0")).toEqual([
    expect.stringContaining("does not take @agentfw/core 2.0.0"),
  ]);
});

it("knows which steps break", () => {
  expect(isBreakingStep("1.1.0", "2.0.0")).toBe(true);
  expect(isBreakingStep("0.1.0", "0.2.0")).toBe(true);
  expect(isBreakingStep("0.1.0", "1.0.0")).toBe(true);
  expect(isBreakingStep("1.1.0", "1.2.0")).toBe(false);
  expect(isBreakingStep("0.1.0", "0.1.1")).toBe(false);
  expect(isBreakingStep("2.0.0", "1.0.0")).toBe(false);
  expect(isBreakingStep("1.1.0", "2.0.0-next.0")).toBe(true);
});
