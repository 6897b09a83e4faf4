import { isAgentFrameworkError } from "@agentfw/core";
import type { ContractClause, ContractPort } from "./clause.ts";
import { shortened } from "./show.ts";

/** How a clause ended; `upcoming` is a failure of a clause that is not required yet. */
export type ClauseOutcome = "passed" | "failed" | "upcoming" | "not covered";

/** How one clause ended, with the error as it was thrown. */
export interface ClauseResult {
  readonly clause: Pick<ContractClause, "id" | "title" | "contract" | "upcoming">;
  readonly outcome: ClauseOutcome;
  /** With `not covered`: why. */
  readonly reason?: string | undefined;
  /** With `not covered`: true when the store declares the capability and no reason was given for the missing hook. */
  readonly needsReason?: boolean | undefined;
  /** With `failed` and `upcoming`: what was seen instead. */
  readonly error?: unknown;
}

/** One clause in a report. JSON only. */
export interface ClauseReport {
  readonly id: string;
  readonly title: string;
  readonly contract: string;
  readonly outcome: ClauseOutcome;
  readonly reason?: string;
  readonly needsReason?: boolean;
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string };
}

/** How a store did, as JSON that can be kept beside a release. */
export interface ContractReport {
  readonly kit: "@agentfw/provider-testing";
  readonly contractVersion: 1;
  readonly port: ContractPort;
  /** The suite's name. */
  readonly name: string;
  readonly tally: {
    readonly passed: number;
    readonly failed: number;
    /** Clauses that fail and are required from the next major version of the kit on. */
    readonly upcoming: number;
    readonly notCovered: number;
  };
  readonly clauses: readonly ClauseReport[];
  /** With a run that did not come to its end: why not. Then the clauses are those that had ended until then. */
  readonly unfinished?: string;
}

/** Turns the results of a run into a report: JSON only, in the order of the results. */
export function report(port: ContractPort, name: string, results: readonly ClauseResult[]): ContractReport {
  return reportOf(port, name, results.map(clauseReport));
}

/** The report on clauses that are JSON already. */
export function reportOf(port: ContractPort, name: string, clauses: readonly ClauseReport[]): ContractReport {
  const count = (outcome: ClauseOutcome) => clauses.filter((clause) => clause.outcome === outcome).length;
  return {
    kit: "@agentfw/provider-testing",
    contractVersion: 1,
    port,
    name,
    tally: {
      passed: count("passed"),
      failed: count("failed"),
      upcoming: count("upcoming"),
      notCovered: count("not covered"),
    },
    clauses,
  };
}

/** One result as JSON. */
export function clauseReport({ clause, outcome, reason, needsReason, error }: ClauseResult): ClauseReport {
  return {
    id: clause.id,
    title: clause.title,
    contract: clause.contract,
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(needsReason ? { needsReason } : {}),
    ...(outcome === "failed" || outcome === "upcoming" ? { error: plainError(error) } : {}),
  };
}

function plainError(error: unknown): { name: string; message: string; code?: string } {
  if (!(error instanceof Error)) {
    return { name: "unknown", message: String(error) };
  }
  const { name, message } = error;
  return isAgentFrameworkError(error) ? { name, message, code: error.code } : { name, message };
}

/** The closing lines of a run: the tally, what failed, and what was not covered and why. */
export function summary(report: ContractReport): string {
  return [tallyLine(report), ...report.clauses.filter(({ outcome }) => outcome !== "passed").map(clauseLine)].join(
    "\n",
  );
}

/** How many clauses ended how, on one line. */
export function tallyLine({ port, name, tally }: ContractReport): string {
  const soon = tally.upcoming === 0 ? "" : `, ${tally.upcoming} to be required`;
  return `${name}, ${port}: ${tally.passed} passed, ${tally.failed} failed, ${tally.notCovered} not covered${soon}`;
}

/**
 * The clauses of declared capabilities that were not covered for want of a hook, without a reason in the suite's
 * `cannot`. A suite with any of them has not proven what its store declares.
 */
export function unexplained({ clauses }: ContractReport): readonly ClauseReport[] {
  return clauses.filter((clause) => clause.needsReason === true);
}

const MARKS: Readonly<Record<ClauseOutcome, string>> = {
  passed: "ok          ",
  failed: "FAILED      ",
  upcoming: "upcoming    ",
  "not covered": "not covered ",
};

/** What a driver throws may be a page; the report as JSON has all of it. */
const LONGEST_DETAIL = 600;

/** One clause on one line, as the bindings and the command show it. */
export function clauseLine({ id, title, outcome, reason, error }: ClauseReport): string {
  const mark = MARKS[outcome];
  const detail = error === undefined ? reason : `${error.name}: ${error.message}`;
  return `${mark}${id} ${title}${detail === undefined ? "" : ` (${shortened(detail, LONGEST_DETAIL)})`}`;
}
