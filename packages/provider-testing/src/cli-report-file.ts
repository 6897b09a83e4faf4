import { writeFileSync } from "node:fs";
import { UsageError } from "./cli-arguments.ts";
import type { ContractReport } from "./report.ts";

/**
 * Empties the file for the reports: a path that cannot be written is told before anything is run, and the reports of
 * an earlier run are not taken for those of one that found nothing.
 *
 * @throws UsageError when it cannot be written.
 */
export function prepareReportFile(path: string): void {
  writeText(path, "");
}

/** @throws UsageError when it cannot be written. */
export function writeReportFile(path: string, reports: readonly ContractReport[]): void {
  writeText(path, reportText(reports));
}

/** The reports as they are written: a JSON array. */
export function reportText(reports: readonly ContractReport[]): string {
  return `${JSON.stringify(reports, undefined, 2)}\n`;
}

function writeText(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new UsageError(`--json: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
