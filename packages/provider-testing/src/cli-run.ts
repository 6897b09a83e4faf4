import { writeFile } from "node:fs/promises";
import { type ArgsDef, defineCommand, parseArgs, renderUsage } from "citty";
import { KIND_NAMES, openerNames, type SubjectKind } from "./cli-kinds.ts";
import { type LoadedSuite, loadSuites, OpenFileError } from "./cli-open-file.ts";
import { all } from "./expect.ts";
import { type ClauseResult, type ContractReport, clauseLine, clauseReport, summary, unexplained } from "./report.ts";

const ARGUMENTS = {
  file: {
    type: "positional",
    description: `JavaScript or TypeScript file that exports ${openerNames(" or ")}`,
    required: true,
  },
  kind: {
    type: "enum",
    options: [...KIND_NAMES],
    description: "Run this contract only; the file may then export a plain `open` or a default",
  },
  only: { type: "string", description: "Run only these clauses", valueHint: "H06,H08" },
  json: { type: "string", description: "Write the reports to this file, as a JSON array", valueHint: "FILE" },
  help: { type: "boolean", alias: "h", description: "Show this text" },
} as const satisfies ArgsDef;

const COMMAND = defineCommand({
  meta: {
    name: "agentfw-provider-test",
    description:
      "Runs the conformance contract of an agentfw store, provider or client, clause by clause. Exit code 1 when it does not hold.",
  },
  args: ARGUMENTS,
});

/** Exit codes of the command. */
const CODES = { held: 0, broken: 1, misused: 2 } as const;

/** Prints text as it is. */
export type Write = (text: string) => void;

/** Runs the command and gives its exit code: 0 all held, 1 something did not, 2 it was called the wrong way. */
export async function runCli(rawArguments: readonly string[], write: Write): Promise<number> {
  if (rawArguments.includes("--help") || rawArguments.includes("-h")) {
    write(`${await renderUsage(COMMAND)}\n`);
    return CODES.held;
  }
  try {
    return await run(readArguments(rawArguments), write);
  } catch (error) {
    if (error instanceof OpenFileError || error instanceof UsageError) {
      write(`${error.message}\nTry --help.\n`);
      return CODES.misused;
    }
    throw error;
  }
}

class UsageError extends Error {}

interface CliOptions {
  readonly file: string;
  readonly kind: SubjectKind | undefined;
  readonly only: readonly string[] | undefined;
  readonly json: string | undefined;
}

function readArguments(rawArguments: readonly string[]): CliOptions {
  const parsed = parse(rawArguments);
  const unknown = Object.keys(parsed).filter((name) => name !== "_" && !(name in ARGUMENTS) && name !== "h");
  const extra = parsed._.slice(1);
  if (unknown.length > 0 || extra.length > 0) {
    throw new UsageError(`Not understood: ${[...unknown.map((name) => `--${name}`), ...extra].join(" ")}`);
  }
  const { file, kind, json, only } = parsed;
  return { file, kind, json, only: only?.split(",").map((id) => id.trim().toUpperCase()) };
}

function parse(rawArguments: readonly string[]) {
  try {
    return parseArgs<typeof ARGUMENTS>([...rawArguments], ARGUMENTS);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function run({ file, kind, only, json }: CliOptions, write: Write): Promise<number> {
  const suites = await loadSuites(file, kind);
  const chosen = choose(suites, only);
  await all(chosen.map(tryOpen));
  const strays: unknown[] = [];
  // A rejection that nobody waits for would end the process in the middle of the list.
  const onStray = (error: unknown) => strays.push(error);
  process.on("unhandledRejection", onStray);
  const reports: ContractReport[] = [];
  try {
    for (const suite of chosen) {
      write(`${suite.name}: the contract of ${suite.port}\n`);
      const ids = only?.filter((id) => suite.ids.includes(id));
      reports.push(await suite.run(ids, (result) => write(`${line(result)}\n`)));
    }
    // Node tells of a stray rejection only when the turn that made it has ended.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("unhandledRejection", onStray);
  }
  write(closing(reports, strays));
  if (json !== undefined) {
    await writeReports(json, reports);
  }
  const isBroken = reports.some((one) => one.tally.failed > 0 || unexplained(one).length > 0);
  return isBroken || strays.length > 0 ? CODES.broken : CODES.held;
}

/** The suites that hold any of the clauses that are asked for. */
function choose(suites: readonly LoadedSuite[], only: readonly string[] | undefined): readonly LoadedSuite[] {
  const unknown = only?.filter((id) => !suites.some((suite) => suite.ids.includes(id))) ?? [];
  if (unknown.length > 0) {
    throw new UsageError(`No such clause: ${unknown.join(", ")}`);
  }
  return suites.filter((suite) => only === undefined || suite.ids.some((id) => only.includes(id)));
}

async function tryOpen(suite: LoadedSuite): Promise<void> {
  try {
    await suite.tryOpen();
  } catch (error) {
    throw new OpenFileError(`open() failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

async function writeReports(file: string, reports: readonly ContractReport[]): Promise<void> {
  try {
    await writeFile(file, `${JSON.stringify(reports, undefined, 2)}\n`);
  } catch (error) {
    throw new UsageError(`--json: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function line(result: ClauseResult): string {
  return `  ${clauseLine(clauseReport(result))}`;
}

function closing(reports: readonly ContractReport[], strays: readonly unknown[]): string {
  const parts = reports.map((one) => `\n${summary(one)}\n`);
  const open = reports.flatMap(unexplained).map(({ id }) => id);
  if (open.length > 0) {
    parts.push(
      `\nDeclared and not covered: ${open.join(", ")}. Offer the hook, or say why not in the export "cannot".\n`,
    );
  }
  for (const error of strays) {
    parts.push(`\nA rejection that nobody waited for: ${error instanceof Error ? error.message : String(error)}\n`);
  }
  return parts.join("");
}
