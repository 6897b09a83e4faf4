import { expect, it } from "vitest";
import { twinProblems } from "../lib/rules/twins.mjs";
import { root } from "../lib/workspace.mjs";
import { write } from "./workspace-fixture.mjs";

const history = "packages/history-file/src/writer-identity.ts";
const memory = "packages/memory-file/src/writer-identity.ts";
const others = { "packages/history-file/package.json": {}, "packages/memory-file/package.json": {} };

it("takes files of the same text", () => {
  expect(twinProblems(write({ ...others, [history]: "same\n", [memory]: "same\n" }))).toEqual([]);
});

it("names the file that was not changed with its twin", () => {
  expect(twinProblems(write({ ...others, [history]: "mended\n", [memory]: "same\n" }))).toEqual([
    `${memory}: must have the text of ${history}; both stores need what one of them needs`,
  ]);
});

it("names a twin that is gone, whichever it is", () => {
  expect(twinProblems(write({ ...others, [history]: "same\n" }))).toHaveLength(1);
  expect(twinProblems(write({ ...others, [memory]: "same\n" }))[0]).toMatch(new RegExp(`^${history}`));
});

it("asks nothing of a checkout without such packages", () => {
  expect(twinProblems(write({ [history]: "alone\n" }))).toEqual([]);
});

it("has nothing to say of this checkout", () => {
  expect(twinProblems(root)).toEqual([]);
});
