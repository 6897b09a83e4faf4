import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const COMMAND = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");

/** Runs the fixture's suite in a Vitest of its own, and gives what its reports say. */
function runSuite(pattern: string): Promise<{ report: string; output: string }> {
  const folder = resolve("test/fixtures/vitest");
  const args = [COMMAND, "run", "--root", folder, "-t", pattern, "--reporter=json", "--reporter=verbose"];
  const env = { ...process.env, NO_COLOR: "1", NODE_OPTIONS: "", VITEST: undefined };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env, maxBuffer: 16_000_000 }, (_, stdout) => {
      const report = stdout.split("\n").find((line) => line.startsWith("{"));
      resolve({ report: report ?? "{}", output: stdout });
    });
  });
}

test("a clause that was not covered is a skipped test, with the reason in every report", {
  timeout: 60_000,
}, async () => {
  const { report, output } = await runSuite("H01|H03|H07|H08|every declared");
  const tests: unknown = JSON.parse(report).testResults[0].assertionResults;
  expect(tests).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ title: expect.stringMatching(/^H01/), status: "passed", meta: {} }),
      expect.objectContaining({ title: expect.stringMatching(/^H03/), status: "failed" }),
      expect.objectContaining({
        title: expect.stringMatching(/^H07/),
        status: "skipped",
        meta: { agentfwClause: expect.objectContaining({ id: "H07", outcome: "not covered", needsReason: true }) },
      }),
      expect.objectContaining({ title: expect.stringMatching(/^H08/), status: "skipped" }),
      expect.objectContaining({ title: expect.stringMatching(/^every declared/), status: "failed" }),
    ]),
  );
  expect(output).toContain("[not covered: open() offers no another()]");
  expect(output).toContain("broken, HistoryStore: 1 passed, 1 failed, 2 not covered");
});

test("what was not covered is listed also where a filter leaves out the last test", { timeout: 60_000 }, async () => {
  const { output } = await runSuite("H08");
  expect(output).toContain("broken, HistoryStore: 0 passed, 0 failed, 1 not covered");
  expect(output).toMatch(/^not covered H08 .* \(open\(\) offers no breakBackend\(\): nothing to break\)$/m);
});
