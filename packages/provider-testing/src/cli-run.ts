import { writeFile } from "node:fs/promises";
import { type CliOptions, readArguments, UsageError, usageText } from "./cli-arguments.ts";
import { type LoadedSuite, loadSuites, OpenFileError } from "./cli-open-file.ts";
import { clauseList, closingText, kitVersion } from "./cli-texts.ts";
import { all } from "./expect.ts";
import { type ContractReport, clauseLine, clauseReport, unexplained } from "./report.ts";

/** Exit codes of the command. */
const CODES = { held: 0, broken: 1, misused: 2 } as const;

/** Prints text as it is. */
export type Write = (text: string) => void;

/** Where the command prints: `write` for what was asked for, `writeAside` for what else there is to say. */
export interface CliOutput {
  readonly write: Write;
  readonly writeAside: Write;
}

/** Runs the command and gives its exit code: 0 all held, 1 something did not, 2 it was called the wrong way. */
export async function runCli(rawArguments: readonly string[], output: CliOutput): Promise<number> {
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
    return await obey(readArguments(rawArguments), output);
  } catch (error) {
    if (error instanceof OpenFileError || error instanceof UsageError) {
      output.writeAside(`${error.message}\nTry --help.\n`);
      return CODES.misused;
    }
    throw error;
  }
}

async function obey(options: CliOptions, output: CliOutput): Promise<number> {
  const { file, kind, only, list } = options;
  if (list || file === undefined) {
    const text = clauseList(kind, only);
    if (text === "") {
      throw new UsageError(`No such clause: ${only?.join(", ")}`);
    }
    output.write(text);
    return CODES.held;
  }
  const chosen = choose(await loadSuites(file, kind), only);
  await all(chosen.map(tryOpen));
  return run(chosen, options, output);
}

async function run(chosen: readonly LoadedSuite[], { only, json }: CliOptions, output: CliOutput): Promise<number> {
  const write = json === "-" ? output.writeAside : output.write;
  const strays: unknown[] = [];
  // A rejection that nobody waits for would end the process in the middle of the list.
  const onStray = (error: unknown) => strays.push(error);
  process.on("unhandledRejection", onStray);
  const reports: ContractReport[] = [];
  try {
    for (const suite of chosen) {
      write(`${suite.name}: the contract of ${suite.port}\n`);
      const ids = only?.filter((id) => suite.ids.includes(id));
      reports.push(await suite.run(ids, (result) => write(`  ${clauseLine(clauseReport(result))}\n`)));
    }
    // Node tells of a stray rejection only when the turn that made it has ended.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("unhandledRejection", onStray);
  }
  write(closingText(reports, strays));
  if (json !== undefined) {
    await writeReports(json, reports, output.write);
  }
  const isBroken = reports.some((one) => one.tally.failed > 0 || unexplained(one).length > 0);
  return isBroken || strays.length > 0 ? CODES.broken : CODES.held;
}

/** The suites that hold any of the clauses that are asked for. */
function choose(suites: readonly LoadedSuite[], only: readonly string[] | undefined): readonly LoadedSuite[] {
  const unknown = only?.filter((id) => !suites.some((suite) => suite.ids.includes(id))) ?? [];
  if (unknown.length > 0) {
    const ranges = suites.map(({ port, ids }) => `${port} has ${ids[0]} to ${ids.at(-1)}`);
    throw new UsageError(`No such clause: ${unknown.join(", ")}. ${ranges.join("; ")}.`);
  }
  return suites.filter((suite) => only === undefined || suite.ids.some((id) => only.includes(id)));
}

async function tryOpen(suite: LoadedSuite): Promise<void> {
  try {
    await suite.tryOpen();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OpenFileError(`open() failed, before any clause was run: ${why}`, { cause: error });
  }
}

async function writeReports(file: string, reports: readonly ContractReport[], write: Write): Promise<void> {
  const text = `${JSON.stringify(reports, undefined, 2)}\n`;
  if (file === "-") {
    write(text);
    return;
  }
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new UsageError(`--json: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
