import { readFile } from "node:fs/promises";
import { isPlainObject } from "@agentfw/core";
import { chatClientContract } from "./chat/contract.ts";
import type { ContractClause } from "./clause.ts";
import { KIND_NAMES, KINDS, type SubjectKind } from "./cli-kinds.ts";
import { contextProviderContract } from "./context/contract.ts";
import { fileStoreContract } from "./file/contract.ts";
import { historyStoreContract } from "./history/contract.ts";
import { type ClauseReport, type ContractReport, clauseLine, tallyLine, unexplained } from "./report.ts";
import { stateStoreContract } from "./state/contract.ts";

type ClauseText = Pick<ContractClause, "id" | "title" | "reason" | "requires" | "upcoming">;

const CONTRACTS: Readonly<Record<SubjectKind, readonly ClauseText[]>> = {
  history: historyStoreContract,
  state: stateStoreContract,
  file: fileStoreContract,
  context: contextProviderContract,
  "chat-client": chatClientContract,
};

/** The version of the kit, as its package says it. */
export async function kitVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  return isPlainObject(manifest) ? String(manifest["version"]) : "unknown";
}

/** All clauses of one kind or of every kind, with what each needs. */
export function clauseList(kind: SubjectKind | undefined, only: readonly string[] | undefined): string {
  const kinds = kind === undefined ? KIND_NAMES : [kind];
  return kinds.map((name) => listOf(name, only)).join("");
}

function listOf(kind: SubjectKind, only: readonly string[] | undefined): string {
  const chosen = CONTRACTS[kind].filter(({ id }) => only?.includes(id) ?? true);
  const lines = chosen.map(({ id, title, requires, upcoming }) => {
    const needs = [
      ...(requires?.capabilities ?? []).map((name) => `capability ${name}`),
      ...(requires?.hooks ?? []).map((name) => `${name}()`),
    ];
    const marks = [...(upcoming ? ["to be required"] : []), ...(needs.length > 0 ? [`needs ${needs.join(", ")}`] : [])];
    return `  ${id} ${title}${marks.length > 0 ? ` (${marks.join("; ")})` : ""}\n`;
  });
  return lines.length === 0 ? "" : `${KINDS[kind].port}, --kind ${kind}\n${lines.join("")}`;
}

/** What is said when all clauses of a run have ended. */
export function closingText(reports: readonly ContractReport[], strays: readonly string[]): string {
  const parts = reports.map((report) => `\n${tallyLine(report)}\n${troubles(report)}${uncovered(report)}`);
  const open = reports.flatMap(unexplained).map(({ id }) => id);
  if (open.length > 0) {
    parts.push(
      `\nDeclared and not covered: ${open.join(", ")}. Offer the hook, or say why not in the export "cannot".\n`,
    );
  }
  for (const message of strays) {
    parts.push(`\nA rejection that nobody waited for: ${message}\n`);
  }
  return parts.join("");
}

/** What did not hold, and why it matters. */
function troubles({ clauses }: ContractReport): string {
  const texts = Object.values(CONTRACTS).flat();
  return clauses
    .filter(({ outcome }) => outcome === "failed" || outcome === "upcoming")
    .map((clause) => {
      const reason = texts.find(({ id }) => id === clause.id)?.reason ?? "";
      return `${clauseLine(clause)}\n            Why it matters: ${reason}\n`;
    })
    .join("");
}

/** What nothing was found out about, by the reason: one hook may stand for many clauses. */
function uncovered({ clauses }: ContractReport): string {
  const byReason = new Map<string, ClauseReport[]>();
  for (const clause of clauses.filter(({ outcome }) => outcome === "not covered")) {
    const reason = clause.reason ?? "";
    byReason.set(reason, [...(byReason.get(reason) ?? []), clause]);
  }
  return [...byReason]
    .map(([reason, some]) => `not covered: ${reason} (${some.map(({ id }) => id).join(", ")})\n`)
    .join("");
}
