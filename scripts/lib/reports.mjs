import { existsSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { listExamples } from "./examples/list.mjs";
import { listPackages, readJson, root } from "./workspace.mjs";

/** Every place that runs tests and must leave a report: `{ name, file }`. */
export function reportFiles(base = root) {
  const packages = listPackages(base).filter(({ manifest }) => manifest.scripts?.test !== undefined);
  return [
    { name: "scripts", file: join(base, "scripts", ".reports", "tests.json") },
    ...[...packages, ...listExamples(base)].map(({ manifest, path }) => ({
      name: manifest.name,
      file: join(path, ".reports", "tests.json"),
    })),
  ];
}

/** Takes the old reports away, so that a package that crashes cannot pass with yesterday's. */
export function clearReports(files) {
  for (const { file } of files) rmSync(file, { force: true });
}

/**
 * Reads one report: `{ name, passed, failed, notCovered, upcoming, skipped, problems }`. What the conformance kit could not
 * look at, or does not require yet, is skipped and counted apart: it neither passed nor failed. Everything else that is
 * no test counts as a failure: a report that is missing, a file that could not be loaded, a run without a test, an error
 * outside of any.
 */
export function readReport({ name, file }) {
  const result = { name, passed: 0, failed: 0, notCovered: 0, upcoming: 0, skipped: 0, problems: [] };
  const fail = (problem) => {
    result.failed += 1;
    result.problems.push(`${name}: ${problem}`);
  };
  if (!existsSync(file)) {
    fail("left no test report; it crashed or never started");
    return result;
  }
  const report = readJson(file);
  for (const suite of report.testResults) countSuite(suite, result, fail);
  if (result.passed + result.failed === 0) fail("ran no test");
  if (result.failed === 0 && !report.success) fail("failed outside of its tests");
  return result;
}

function countSuite(suite, result, fail) {
  const before = result.failed;
  for (const test of suite.assertionResults) {
    if (test.status === "passed") result.passed += 1;
    else if (test.status === "failed") fail(`${test.fullName}\n    ${firstLine(test.failureMessages?.[0])}`);
    else result[kindOfSkip(test)] += 1;
  }
  if (suite.status === "failed" && result.failed === before)
    fail(`${relative(root, suite.name)}\n    ${firstLine(suite.message)}`);
}

/** The kit leaves the report of a clause on its test. */
function kindOfSkip(test) {
  const outcome = test.meta?.agentfwClause?.outcome;
  return outcome === "not covered" ? "notCovered" : outcome === "upcoming" ? "upcoming" : "skipped";
}

function firstLine(text) {
  return (text ?? "no message").trim().split("\n")[0];
}
