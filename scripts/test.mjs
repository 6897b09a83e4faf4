// Everything that must hold, in one command. The last line counts: `N passed, N failed`.
import "./lib/require-node.mjs";
import { prepare, runChecks, step } from "./lib/gate.mjs";
import { clearReports, readReport, reportFiles } from "./lib/reports.mjs";

function summarize(results, failedSteps, testsOk) {
  const problems = [...failedSteps.map((title) => `check: ${title}`), ...results.flatMap((result) => result.problems)];
  let failed = problems.length;
  if (failed === 0 && !testsOk) {
    failed = 1;
    problems.push("the test run ended with an error that no package reported");
  }
  for (const { name, passed, failed: bad, notCovered, upcoming, skipped } of results) {
    const counts = { failed: bad, "clauses not covered": notCovered, "clauses to be required": upcoming, skipped };
    const rest = Object.entries(counts)
      .map(([what, count]) => (count > 0 ? `, ${count} ${what}` : ""))
      .join("");
    process.stdout.write(`  ${name.padEnd(28)} ${String(passed).padStart(5)} passed${rest}\n`);
  }
  if (problems.length > 0) process.stdout.write(`\nWhat failed:\n${problems.map((text) => `- ${text}\n`).join("")}`);
  return { passed: results.reduce((sum, result) => sum + result.passed, 0), failed };
}

async function test() {
  const tools = await prepare();
  const failedSteps = await runChecks(tools);
  const files = reportFiles();
  clearReports(files);
  const testsOk = await step("tests", () => tools.turbo("test", "test:scripts", "test:examples"));
  return summarize(files.map(readReport), failedSteps, testsOk);
}

let total = { passed: 0, failed: 1 };
try {
  total = await test();
} catch (error) {
  process.stdout.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
}
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 ? 0 : 1;
