import { readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { type CliRequest, misuse, readArguments, usageText } from "./cli-arguments.ts";
import { CreateProviderError } from "./errors.ts";
import { nameProvider, type ProviderNames } from "./names.ts";
import { renderProvider } from "./render.ts";
import { writeProvider } from "./write.ts";

/** Exit codes of the command. */
const CODES = { made: 0, failed: 1, misused: 2 } as const;

/** Where the command writes to, text as it is. */
export interface CliOutput {
  /** What was asked for. */
  readonly out: (text: string) => void;
  /** Why it was not done. */
  readonly err: (text: string) => void;
}

/**
 * Runs the command and gives its exit code: 0 the project is there, 1 it could not be written, 2 it was called the
 * wrong way or something is there already.
 */
export async function runCli(
  rawArguments: readonly string[],
  folder: string,
  { out, err }: CliOutput,
): Promise<number> {
  try {
    out(await answer(rawArguments, folder));
    return CODES.made;
  } catch (error) {
    if (!(error instanceof CreateProviderError)) {
      throw error;
    }
    err(`${error.message}\n`);
    return error.code === "unwritable" ? CODES.failed : CODES.misused;
  }
}

async function answer(rawArguments: readonly string[], folder: string): Promise<string> {
  const request = readArguments(rawArguments);
  if (request === "help") {
    return `${await usageText()}\n`;
  }
  return request === "version" ? `${await ownVersion()}\n` : make(request, folder);
}

async function make({ kind, name, scope, directory, force }: CliRequest, folder: string): Promise<string> {
  if (/^@?agentfw$/.test(scope ?? "")) {
    throw misuse('scope: "@agentfw" is the project\'s own; use yours, or leave it out');
  }
  const names = nameProvider({ kind, name, scope });
  const target = resolve(folder, directory ?? names.folder);
  await writeProvider(target, await renderProvider(names), { force });
  return nextSteps(names, relative(folder, target) || ".");
}

function nextSteps(names: ProviderNames, folder: string): string {
  const go = folder === "." ? "" : `  cd ${/^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder)}\n`;
  return `Made ${names.packageName} in ${folder}. Next:

${go}  npm install
  npm test

It fails, and every failing line is a promise that ${names.className} has to keep.
Begin in src/${names.fileName}.ts; CONTRIBUTING.md has the way.
`;
}

async function ownVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "";
}
