import type { ContractClause, ContractPort } from "./clause.ts";
import { failure } from "./expect.ts";
import type { ContractSuite, OpenedSubject } from "./opened.ts";
import { type ClauseResult, type ContractReport, report, summary, unexplained } from "./report.ts";
import { clauseTimeoutMs, runClause } from "./run.ts";

/** One test to declare with a runner. */
export interface SuiteTest {
  readonly title: string;
  /** How long the runner should wait: longer than the clause itself may take, so that the kit's own message is shown. */
  readonly timeoutMs: number;
  /** Runs the test: rejects when it fails, else gives what is to be known beside: why it was not covered, for example. */
  run(): Promise<string | undefined>;
}

/** A contract and a store as tests for any runner. */
export interface SuiteTests {
  readonly title: string;
  readonly clauses: readonly SuiteTest[];
  /** What the last test says. */
  readonly lastTitle: string;
  /** The report on the clauses that ran, once they have run. */
  report(): ContractReport;
  /** The text of the last test; rejects when a declared capability was not covered without a reason. */
  conclude(): string;
}

/** Turns a contract and a store into tests that a runner can declare. */
export function suiteTests<O extends OpenedSubject>(
  port: ContractPort,
  contract: readonly ContractClause<O>[],
  suite: ContractSuite<O>,
): SuiteTests {
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
        return result.outcome === "upcoming" ? `to be required: ${messageOf(result.error)}` : told(result.reason);
      },
    })),
    lastTitle: "every declared capability is covered, or there is a reason why not",
    report: current,
    conclude: () => {
      const open = unexplained(current());
      if (open.length > 0) {
        const list = open.map(({ id, reason }) => `${id}: ${reason}`).join("; ");
        throw failure(`declared, and not covered without a reason in the suite's "cannot": ${list}`);
      }
      return summary(current());
    },
  };
}

function told(reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : `not covered: ${reason}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
