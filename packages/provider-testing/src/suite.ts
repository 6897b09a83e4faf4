import type { ContractClause, ContractPort } from "./clause.ts";
import { failure } from "./expect.ts";
import type { ContractSuite, OpenedSubject } from "./opened.ts";
import { assertReasons } from "./opened-input.ts";
import {
  type ClauseReport,
  type ClauseResult,
  type ContractReport,
  clauseReport,
  report,
  summary,
  unexplained,
} from "./report.ts";
import { clauseTimeoutMs, runClause } from "./run.ts";
import { shortened } from "./show.ts";

/** One test to declare with a runner. */
export interface SuiteTest {
  readonly title: string;
  /** How long the runner should wait: longer than the clause itself may take, so that the kit's own message is shown. */
  readonly timeoutMs: number;
  /** Runs the test: rejects when it fails, and gives nothing when it passes. */
  run(): Promise<NotPassed | undefined>;
}

/** How a test ended that neither passed nor failed: a runner is to show it as skipped, with the remark. */
export interface NotPassed {
  readonly clause: ClauseReport;
  /** Why it was not covered, or what it will fail on when it is required. */
  readonly remark: string;
}

/** A contract and a store as tests for any runner. */
export interface SuiteTests {
  readonly title: string;
  readonly clauses: readonly SuiteTest[];
  /** What the last test says. */
  readonly lastTitle: string;
  /** The report on the clauses that ran, once they have run. */
  report(): ContractReport;
  /** How the clauses ended: the text of the last test, whether it fails or not. */
  summary(): string;
  /** Throws when a declared capability was not covered without a reason. */
  conclude(): void;
}

/** Turns a contract and a store into tests that a runner can declare. @throws `configuration` for a `cannot` that is none */
export function suiteTests<O extends OpenedSubject>(
  port: ContractPort,
  contract: readonly ContractClause<O>[],
  suite: ContractSuite<O>,
): SuiteTests {
  assertReasons(suite.cannot);
  const results: ClauseResult[] = [];
  const current = () => report(port, suite.name, results);
  return {
    title: `${suite.name}: the contract of ${port}`,
    clauses: contract.map((clause) => ({
      title: `${clause.id} ${clause.title}`,
      timeoutMs: clauseTimeoutMs(suite) + 30_000,
      run: async () => {
        const result = await runClause(clause, suite);
        results.push(result);
        if (result.outcome === "failed") {
          throw result.error;
        }
        return notPassed(clauseReport(result));
      },
    })),
    lastTitle: "every declared capability is covered, or there is a reason why not",
    report: current,
    summary: () => summary(current()),
    conclude: () => {
      const open = unexplained(current());
      if (open.length > 0) {
        const list = open.map(({ id, reason }) => `${id}: ${reason}`).join("; ");
        throw failure(`declared, and not covered without a reason in the suite's "cannot": ${list}`);
      }
    },
  };
}

function notPassed(clause: ClauseReport): NotPassed | undefined {
  const { outcome, reason, error } = clause;
  if (outcome === "passed") {
    return undefined;
  }
  const remark = outcome === "upcoming" ? `to be required, and fails: ${error?.message}` : `not covered: ${reason}`;
  return { clause, remark: shortened(remark, 300) };
}
