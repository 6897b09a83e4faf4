import { url as debuggerUrl } from "node:inspector";
import { type CliOptions, limitsOf, NO_LIMITS, readArguments, UsageError, usageText } from "./cli-arguments.ts";
import { type Ending, INTERRUPTION_CODES } from "./cli-ending.ts";
import { runHere } from "./cli-here.ts";
import type { CliOutput } from "./cli-output.ts";
import { Progress } from "./cli-progress.ts";
import { RunRecord } from "./cli-record.ts";
import { prepareReportFile, reportText, writeReportFile } from "./cli-report-file.ts";
import { clauseList, closingText, kitVersion } from "./cli-texts.ts";
import { runInChild } from "./cli-watch.ts";
import { unexplained } from "./report.ts";

/** Exit codes of the command. */
const CODES = { held: 0, broken: 1, misused: 2 } as const;

/**
 * Runs the command and gives its exit code: 0 all held, 1 something did not or the run broke off, 2 it was called the
 * wrong way, or that of the signal that ended it. `childScript` is what runs the clauses in a process of their own.
 */
export async function runCli(
  rawArguments: readonly string[],
  output: CliOutput,
  childScript: readonly string[],
): Promise<number> {
  const has = (...names: readonly string[]) => rawArguments.some((argument) => names.includes(argument));
  if (has("--help", "-h")) {
    output.write(await usageText());
    return CODES.held;
  }
  if (has("--version", "-v")) {
    output.write(`${await kitVersion()}\n`);
    return CODES.held;
  }
  try {
    return await obey(readArguments(rawArguments), output, childScript);
  } catch (error) {
    if (error instanceof UsageError) {
      return misused(error.message, output);
    }
    throw error;
  }
}

function misused(message: string, output: CliOutput): number {
  output.writeAside(`${message}\nTry --help.\n`);
  return CODES.misused;
}

async function obey(options: CliOptions, output: CliOutput, childScript: readonly string[]): Promise<number> {
  const { file, kind, only, list } = options;
  if (list || file === undefined) {
    const text = clauseList(kind, only);
    if (text === "") {
      throw new UsageError(`No such clause: ${only?.join(", ")}`);
    }
    output.write(text);
    return CODES.held;
  }
  return run(file, options, output, childScript);
}

async function run(
  file: string,
  options: CliOptions,
  output: CliOutput,
  childScript: readonly string[],
): Promise<number> {
  const { kind, only, json } = options;
  const isStdoutTaken = json === "-";
  if (json !== undefined && !isStdoutTaken) {
    prepareReportFile(json);
  }
  const progress = new Progress(output.terminal);
  const record = new RunRecord(file, isStdoutTaken ? output.writeAside : output.write, progress);
  const finish = (ending: Ending) => {
    progress.end();
    return conclude(ending, record, json, output);
  };
  const isDebugged = debuggerUrl() !== undefined;
  const request = { file, kind, only, limits: isDebugged ? NO_LIMITS : limitsOf(options) };
  const ending = isDebugged
    ? await runHere(request, record, output, finish)
    : await runInChild(request, record, output, { script: childScript, isStdoutTaken });
  return finish(ending);
}

/** Says how the run ended, writes the reports and gives the exit code. */
function conclude(ending: Ending, record: RunRecord, json: string | undefined, output: CliOutput): number {
  const { hasRun, strays = [], refusal } = record;
  const unfinished = ending.how === "over" ? undefined : whyUnfinished(ending, record);
  const reports = record.reports(unfinished ?? refusal);
  if (hasRun) {
    record.print(closingText(reports, strays));
  }
  if (unfinished !== undefined && !(ending.how === "interrupted" && ending.by === "EPIPE")) {
    output.writeAside(`\nNot finished: ${unfinished}\n`);
  }
  if (json !== undefined && reports.length > 0) {
    if (json === "-") {
      output.write(reportText(reports));
    } else {
      writeReportFile(json, reports);
    }
  }
  if (refusal !== undefined) {
    return misused(refusal, output);
  }
  if (ending.how === "interrupted") {
    return INTERRUPTION_CODES[ending.by];
  }
  if (ending.how === "broken off") {
    return hasRun ? CODES.broken : CODES.misused;
  }
  const isBroken = reports.some((one) => one.tally.failed > 0 || unexplained(one).length > 0);
  return isBroken || strays.length > 0 ? CODES.broken : CODES.held;
}

function whyUnfinished(ending: Exclude<Ending, { how: "over" }>, { where }: RunRecord): string {
  return ending.how === "interrupted" ? `${ending.by} ${where}` : ending.why;
}
