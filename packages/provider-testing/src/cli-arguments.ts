import { stripVTControlCharacters } from "node:util";
import { type ArgsDef, defineCommand, parseArgs, renderUsage } from "citty";
import { KIND_NAMES, openerNames, type SubjectKind } from "./cli-kinds.ts";

/** The command was called the wrong way; the message says how. */
export class UsageError extends Error {}

/** What the command is asked for. */
export interface CliOptions {
  readonly file: string | undefined;
  readonly kind: SubjectKind | undefined;
  /** Ids in capital letters. */
  readonly only: readonly string[] | undefined;
  /** A path, or `-` for the standard output. */
  readonly json: string | undefined;
  readonly list: boolean;
}

const ARGUMENTS = {
  file: {
    type: "positional",
    description: `JavaScript or TypeScript file that exports ${openerNames(" or ")}`,
    required: false,
  },
  kind: {
    type: "enum",
    options: [...KIND_NAMES],
    description: "Run this contract only; the file may then export a plain `open` or a default",
  },
  only: { type: "string", description: "Run only these clauses", valueHint: "H06,H08" },
  json: {
    type: "string",
    description:
      "Write the reports to this file, as a JSON array; - writes them to the standard output, and the rest elsewhere",
    valueHint: "FILE",
  },
  list: { type: "boolean", description: "List the clauses and what each needs, and run nothing" },
  version: { type: "boolean", alias: "v", description: "Show the version of the kit" },
  help: { type: "boolean", alias: "h", description: "Show this text" },
} as const satisfies ArgsDef;

const COMMAND = defineCommand({
  meta: {
    name: "agentfw-provider-test",
    description: "Runs the conformance contract of an agentfw store, provider or client, clause by clause.",
  },
  args: ARGUMENTS,
});

const EXIT_CODES = [
  "Exit code 0: all that is required held.",
  "          1: something did not, or a declared capability was not covered and no reason was given.",
  "          2: the command was called the wrong way, or open() failed.",
].join("\n");

/** The text of `--help`, without colors: it is read in logs and pages too. */
export async function usageText(): Promise<string> {
  return `${stripVTControlCharacters(await renderUsage(COMMAND))}\n${EXIT_CODES}\n`;
}

/** @throws UsageError for what is not understood. */
export function readArguments(rawArguments: readonly string[]): CliOptions {
  const parsed = parse(rawArguments);
  const known = ["_", "h", "v", ...Object.keys(ARGUMENTS)];
  const unknown = Object.keys(parsed).filter((name) => !known.includes(name));
  const extra = parsed._.slice(1);
  if (unknown.length > 0 || extra.length > 0) {
    throw new UsageError(`Not understood: ${[...unknown.map((name) => `--${name}`), ...extra].join(" ")}`);
  }
  const { file, kind, json, only, list = false } = parsed;
  if (file === undefined && !list) {
    throw new UsageError("Missing: FILE, the file that opens what is to be tested");
  }
  if (json === "") {
    throw new UsageError("--json: must be a file, or -");
  }
  return { file, kind, json, list, only: only?.split(",").map((id) => id.trim().toUpperCase()) };
}

function parse(rawArguments: readonly string[]) {
  try {
    return parseArgs<typeof ARGUMENTS>([...rawArguments], ARGUMENTS);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
