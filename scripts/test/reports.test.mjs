import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readable } from "../lib/output.mjs";
import { clearReports, readReport, reportFiles } from "../lib/reports.mjs";
import { root } from "../lib/workspace.mjs";
import { write } from "./workspace-fixture.mjs";

const passed = { status: "passed", fullName: "works" };
const failed = { status: "failed", fullName: "breaks", failureMessages: ["expected 1\n    at file"] };

function read(report) {
  const folder = write({ "tests.json": report });
  return readReport({ name: "core", file: join(folder, "tests.json") });
}

/** A test of the conformance kit's that neither passed nor failed. */
const skippedClause = (outcome) => ({ status: "skipped", meta: { agentfwClause: { id: "H08", outcome } } });

it("counts what passed, failed and was skipped", () => {
  const suites = [
    { status: "failed", assertionResults: [passed, failed, { status: "pending" }] },
    { status: "passed", assertionResults: [passed] },
  ];
  expect(read({ success: false, testResults: suites })).toEqual({
    name: "core",
    passed: 2,
    failed: 1,
    notCovered: 0,
    upcoming: 0,
    skipped: 1,
    problems: ["core: breaks\n    expected 1"],
  });
});

it("counts clauses that were not covered, or are upcoming, neither as passed nor as failed", () => {
  const assertionResults = [passed, ...["not covered", "not covered", "upcoming"].map(skippedClause)];
  expect(read({ success: true, testResults: [{ status: "passed", assertionResults }] })).toMatchObject({
    passed: 1,
    failed: 0,
    notCovered: 2,
    upcoming: 1,
    skipped: 0,
    problems: [],
  });
});

it("counts a file that could not be loaded as a failure", () => {
  const report = {
    success: false,
    testResults: [
      {
        status: "failed",
        name: join(root, "packages/core/a.test.ts"),
        message: "Cannot find module",
        assertionResults: [],
      },
    ],
  };
  expect(read(report)).toMatchObject({
    passed: 0,
    failed: 1,
    problems: ["core: packages/core/a.test.ts\n    Cannot find module"],
  });
});

it("counts a run without a test, an error outside of tests and a missing report as failures", () => {
  expect(read({ success: true, testResults: [] })).toMatchObject({ failed: 1, problems: ["core: ran no test"] });
  expect(read({ success: false, testResults: [{ status: "passed", assertionResults: [passed] }] })).toMatchObject({
    passed: 1,
    failed: 1,
  });
  expect(read(undefined)).toMatchObject({ failed: 1, problems: [expect.stringContaining("left no test report")] });
});

it("expects a report of the scripts, of every package that has tests and of every example, and clears old ones", () => {
  const folder = write({
    "packages/core/package.json": { name: "@agentfw/core", scripts: { test: "vitest run" } },
    "packages/core/.reports/tests.json": {},
    "apps/none/package.json": { name: "none" },
    "examples/store/package.json": { name: "somebodys-store" },
  });
  const files = reportFiles(folder);
  expect(files.map(({ name }) => name)).toEqual(["scripts", "@agentfw/core", "somebodys-store"]);
  clearReports(files);
  expect(existsSync(join(folder, "packages/core/.reports/tests.json"))).toBe(false);
});

it("shows the output of a failed step without the task runner's own lines", () => {
  const output = [
    "• turbo 2.11.11",
    "@agentfw/core:test: cache miss, executing 1234",
    "@agentfw/core:test: > vitest run",
    "@agentfw/core:test: ",
    "@agentfw/core:test: expected 1 to be 2",
    "@agentfw/core:test:  ELIFECYCLE  Command failed with exit code 1.",
    " ERROR  run failed: command  exited (1)",
  ];
  expect(readable(output.join("\n"))).toBe("@agentfw/core:test: expected 1 to be 2");
});
