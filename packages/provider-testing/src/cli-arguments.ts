import { stripVTControlCharacters } from "node:util";
import { type ArgsDef, defineCommand, parseArgs, renderUsage } from "citty";
import type { RunLimits } from "./cli-events.ts";
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
  /** How long loading, opening and each clause may take, where it is not as ever. */
  readonly timeoutMs: number | undefined;
  readonly list: boolean;
}

/** What a timer can wait at most, less what is waited for beside. */
const LONGEST_MS = 2_000_000_000;

/** How long each part of a run may take when nothing else is said. */
const DEFAULT_LIMITS: RunLimits = { loadMs: 30_000, openMs: 30_000, clauseMs: 60_000 };

/** For one who looks at a run with a debugger, and stops it. */
export const NO_LIMITS: RunLimits = { loadMs: LONGEST_MS, openMs: LONGEST_MS, clauseMs: LONGEST_MS };

/** The limits of a run; all are `timeoutMs` where that is given. */
export function limitsOf({ timeoutMs }: Pick<CliOptions, "timeoutMs">): RunLimits {
  return timeoutMs === undefined ? DEFAULT_LIMITS : { loadMs: timeoutMs, openMs: timeoutMs, clauseMs: timeoutMs };
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
  timeout: {
    type: "string",
    description: `How long each clause may take, default ${DEFAULT_LIMITS.clauseMs}, and how long loading the file and opening once may take before them, default ${DEFAULT_LIMITS.loadMs} each`,
    valueHint: "MILLISECONDS",
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
  "Exit code 0: all clauses were run, and all that is required held.",
  "          1: something did not, or a declared capability was not covered and no reason was given, or the run broke off.",
  "          2: the command was called the wrong way, or the file could not be loaded, or open() failed.",
  "          130, 143, 141: it was ended by Ctrl-C, by SIGTERM, or because nobody reads what it prints.",
  "The report of a run that did not come to its end holds what was found until then, and says why as `unfinished`.",
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
  const { file, kind, json, only, timeout, list = false } = parsed;
  if (file === undefined && !list) {
    throw new UsageError("Missing: FILE, the file that opens what is to be tested");
  }
  if (json === "") {
    throw new UsageError("--json: must be a file, or -");
  }
  const timeoutMs = timeout === undefined ? undefined : millisecondsOf(timeout);
  return { file, kind, json, timeoutMs, list, only: only?.split(",").map((id) => id.trim().toUpperCase()) };
}

function millisecondsOf(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > LONGEST_MS) {
    throw new UsageError(`--timeout: must be a whole number of milliseconds, from 1 to ${LONGEST_MS}`);
  }
  return value;
}

function parse(rawArguments: readonly string[]) {
  try {
    return parseArgs<typeof ARGUMENTS>([...rawArguments], ARGUMENTS);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
