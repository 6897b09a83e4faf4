import { readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { type ArgsDef, defineCommand, parseArgs, renderUsage } from "citty";
import { CreateProviderError } from "./errors.ts";
import { providerKind, providerKinds } from "./kinds.ts";
import { nameProvider, type ProviderNames } from "./names.ts";
import { renderProvider } from "./render.ts";
import { writeProvider } from "./write.ts";

const ARGUMENTS = {
  kind: { type: "positional", description: providerKinds.join(", "), required: true },
  name: { type: "positional", description: "What is behind it, for example sqlite", required: true },
  scope: { type: "string", description: "Name the package @SCOPE/KIND-NAME", valueHint: "SCOPE" },
  directory: { type: "string", alias: "d", description: "Where to; else a new folder here", valueHint: "FOLDER" },
  force: { type: "boolean", description: "Also write to a folder that is not empty, replacing files" },
  help: { type: "boolean", alias: "h", description: "Show this text" },
  version: { type: "boolean", description: "Show the version of this command" },
} as const satisfies ArgsDef;

const NAMES: ReadonlySet<string> = new Set(["_", "h", "d", ...Object.keys(ARGUMENTS)]);

const COMMAND = defineCommand({
  meta: {
    name: "npm create @agentfw/provider --",
    description: "Makes the project of an agentfw provider. It asks nothing: what is not said is derived.",
  },
  args: ARGUMENTS,
});

/** Exit codes of the command. */
const CODES = { made: 0, failed: 1, misused: 2 } as const;

/** Prints text as it is. */
export type Write = (text: string) => void;

/**
 * Runs the command and gives its exit code: 0 the project is there, 1 it could not be written, 2 it was called the
 * wrong way or something is there already.
 */
export async function runCli(rawArguments: readonly string[], folder: string, write: Write): Promise<number> {
  if (rawArguments.some((argument) => argument === "--help" || argument === "-h")) {
    write(`${await renderUsage(COMMAND)}\n`);
    return CODES.made;
  }
  if (rawArguments.includes("--version")) {
    write(`${await ownVersion()}\n`);
    return CODES.made;
  }
  try {
    write(await make(rawArguments, folder));
    return CODES.made;
  } catch (error) {
    if (!(error instanceof CreateProviderError)) {
      throw error;
    }
    write(`${error.message}\n`);
    return error.code === "unwritable" ? CODES.failed : CODES.misused;
  }
}

async function make(rawArguments: readonly string[], folder: string): Promise<string> {
  const { kind, name, scope, directory, force } = readArguments(rawArguments);
  if (/^@?agentfw$/.test(scope ?? "")) {
    throw misuse('scope: "@agentfw" is the project\'s own; use yours, or leave it out');
  }
  const names = nameProvider({ kind, name, scope });
  const target = resolve(folder, directory ?? names.folder);
  await writeProvider(target, await renderProvider(names), { force });
  return nextSteps(names, relative(folder, target) || ".");
}

function readArguments(rawArguments: readonly string[]) {
  const parsed = parse(rawArguments);
  const unknown = Object.keys(parsed).filter((name) => !NAMES.has(name));
  const extra = parsed._.slice(2);
  if (unknown.length > 0 || extra.length > 0) {
    throw misuse(`Not understood: ${[...unknown.map((name) => `--${name}`), ...extra].join(" ")}`);
  }
  const { name, scope, directory } = parsed;
  for (const [option, value] of Object.entries({ scope, directory })) {
    if (value === "") {
      throw misuse(`--${option}: says nothing`);
    }
  }
  return { kind: providerKind(parsed.kind), name, scope, directory, force: parsed.force === true };
}

function parse(rawArguments: readonly string[]) {
  try {
    return parseArgs<typeof ARGUMENTS>([...rawArguments], ARGUMENTS);
  } catch (error) {
    throw misuse(error instanceof Error ? error.message : String(error));
  }
}

function misuse(text: string): CreateProviderError {
  return new CreateProviderError("configuration", `${text}\nTry --help.`);
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
