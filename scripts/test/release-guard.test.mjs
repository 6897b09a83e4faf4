import { expect, it } from "vitest";
import { guardProblems, isBreakingStep } from "../lib/release/guard.mjs";

const manifest = (version, range, more = {}) => ({ version, peerDependencies: { "@agentfw/core": range, ...more } });
const name = "@agentfw/history-redis";
const coreAt = (version) => ({ name: "@agentfw/core", now: { version }, after: { version }, chosen: [] });
const problems = (before, after, core, { now = after, chosen = ["major"] } = {}) =>
  guardProblems([{ name, before, after }], [coreAt(core), { name, now, after, chosen }]);

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
  ["a major in a patch", ["1.1.0", "^1.4.0"], ["1.1.1", "^2.0.0"], "2.0.0", "major"],
  ["a major in a minor", ["1.1.0", "^1.4.0"], ["1.2.0", "^2.0.0"], "2.0.0", "major"],
  ["a minor below 1.0.0 in a patch", ["0.1.0", "^0.1.0"], ["0.1.1", "^0.2.0"], "0.2.0", "minor"],
  ["a major without any release of the package", ["1.1.0", "^1.4.0"], ["1.1.0", "^2.0.0"], "2.0.0", "major"],
])("refuses a peer that moves %s", (_, before, after, core, size) => {
  const [first, ...more] = problems(manifest(...before), manifest(...after), core);
  expect(first).toMatch(/^@agentfw\/history-redis moves its peer @agentfw\/core from .* must say /);
  expect(first).toMatch(new RegExp(`: ${size}$`));
  expect(more).toEqual([]);
});

it("refuses a peer that is taken away or made a dependency, except in a breaking step", () => {
  const before = manifest("1.1.0", "^1.4.0");
  const gone = { version: "1.1.1" };
  const owned = { version: "1.2.0", dependencies: { "@agentfw/core": "^1.4.0" } };
  expect(problems(before, gone, "1.4.2")).toEqual([
    `${name} takes away its peer @agentfw/core ^1.4.0, and itself only from 1.1.0 to 1.1.1; ` +
      `a changeset must say "${name}": major`,
  ]);
  expect(problems(before, owned, "1.4.2")).toEqual([
    expect.stringContaining("makes its peer @agentfw/core ^1.4.0 a dependency, and itself only from 1.1.0 to 1.2.0"),
  ]);
  expect(problems(before, { ...gone, version: "2.0.0" }, "1.4.2")).toEqual([]);
  expect(problems(before, { ...owned, version: "2.0.0" }, "1.4.2")).toEqual([]);
});

it.each([
  ["1.4.2", "1.1.0", "^1.5.0", "^1.4.2"],
  ["0.1.1", "0.1.0", "^0.2.0", "^0.1.1"],
  ["0.1.0", "0.0.0", "^1.0.0", "^0.1.0"],
])("refuses that core %s lowers the floor of %s, which says %s, to %s", (core, version, floor, written) => {
  const now = manifest(version, floor);
  expect(problems(now, manifest("1.1.1", written), core, { now })).toContain(
    `${name} says that it needs @agentfw/core ${floor}, and this release would write ${written} over it, because it has ` +
      `@agentfw/core ${core}; a changeset must give @agentfw/core ${floor.slice(1)}, or the floor be lowered by hand`,
  );
});

it("lets a floor be lowered by hand", () => {
  expect(problems(manifest("1.1.0", "^1.4.0"), manifest("1.2.0", "^1.2.0"), "1.4.2")).toEqual([]);
});

it("refuses a peer of ours that is not published", () => {
  const after = manifest("1.1.0", "^1.4.0", { "@agentfw/gone": "^1.0.0" });
  expect(problems(after, after, "1.4.2")).toEqual([
    `${name} has the peer @agentfw/gone, which is not published from this checkout`,
  ]);
});

it("refuses a floor above the core that it is released with", () => {
  const high = manifest("1.1.0", "^1.5.0");
  expect(problems(manifest("1.1.0", "^1.4.0"), high, "1.4.2")).toEqual([
    `${name} 1.1.0 does not take @agentfw/core 1.4.2, which it is released with: its floor ^1.5.0 is above that`,
  ]);
});

it("refuses a 1.0.0 that nobody chose, and says what to write", () => {
  const now = manifest("0.1.0", "^0.1.0");
  const after = manifest("1.0.0", "^0.2.0");
  expect(problems(now, after, "0.2.0", { now, chosen: ["patch"] })).toEqual([
    `${name} would become 1.0.0, because @agentfw/core leaves ^0.1.0, and no changeset says so; write the peer ` +
      `@agentfw/core "^0.2.0" in its package.json and a changeset "${name}": minor, or "${name}": major if it shall be ` +
      "1.0.0; or, where nothing breaks, the changeset of @agentfw/core must say patch",
  ]);
  expect(problems(now, after, "0.2.0", { now, chosen: ["patch", "major"] })).toEqual([]);
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
