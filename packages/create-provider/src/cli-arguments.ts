import { parseArgs } from "node:util";
import { type ArgsDef, defineCommand, renderUsage } from "citty";
import { CreateProviderError } from "./errors.ts";
import { type ProviderKind, providerKind, providerKinds } from "./kinds.ts";

/** What the command is asked for. */
export interface CliRequest {
  readonly kind: ProviderKind;
  readonly name: string;
  readonly scope: string | undefined;
  readonly directory: string | undefined;
  readonly force: boolean;
}

const POSITIONALS = {
  kind: { type: "positional", description: providerKinds.join(", "), required: true },
  name: { type: "positional", description: "What is behind it, for example sqlite", required: true },
} as const satisfies ArgsDef;

// One table for the help, which reads `alias`, and for the parser, which reads `short`.
const OPTIONS = {
  scope: { type: "string", description: "Name the package @SCOPE/KIND-NAME", valueHint: "SCOPE" },
  directory: {
    type: "string",
    alias: "d",
    short: "d",
    description: "Where to; else a new folder here",
    valueHint: "FOLDER",
  },
  force: {
    type: "boolean",
    description: "Also write to a folder that is not empty, replacing files, but nothing behind a link",
  },
  help: { type: "boolean", alias: "h", short: "h", description: "Show this text" },
  version: { type: "boolean", description: "Show the version of this command" },
} as const;

const COMMAND = defineCommand({
  meta: {
    name: "npm create @agentfw/provider --",
    description: "Makes the project of an agentfw provider. It asks nothing: what is not said is derived.",
  },
  args: { ...POSITIONALS, ...OPTIONS },
});

/** The text of `--help`. */
export function usageText(): Promise<string> {
  return renderUsage(COMMAND);
}

/**
 * What the arguments ask for: the help, the version, or a project.
 *
 * @throws `configuration` for a flag that is unknown, said twice or empty, has a value and takes none, or takes one and
 * has none; for an argument that is missing or one too many; and for a kind that there is not.
 */
export function readArguments(rawArguments: readonly string[]): "help" | "version" | CliRequest {
  const { values, positionals } = parse(rawArguments);
  if (values.help === true) {
    return "help";
  }
  if (values.version === true) {
    return "version";
  }
  const [kind, name, ...extra] = positionals;
  if (kind === undefined || name === undefined) {
    throw misuse(`Missing: ${kind === undefined ? "KIND" : "NAME"}`);
  }
  if (extra.length > 0) {
    throw misuse(`Not understood: ${extra.join(" ")}`);
  }
  const { scope, directory, force = false } = values;
  return { kind: providerKind(kind), name, scope, directory, force };
}

/** Not the parser of citty: it takes unknown flags, and `--force=no` for `--force`. */
function parse(rawArguments: readonly string[]) {
  const { values, positionals, tokens } = parseStrictly(rawArguments);
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.kind === "option") {
      if (seen.has(token.name)) {
        throw misuse(`--${token.name}: is said twice`);
      }
      seen.add(token.name);
      assertSaysSomething(token);
    }
  }
  return { values, positionals };
}

function parseStrictly(rawArguments: readonly string[]) {
  try {
    return parseArgs({ args: [...rawArguments], options: OPTIONS, allowPositionals: true, strict: true, tokens: true });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    // Nothing that is asked for here begins with a hyphen, so the advice on how to pass such a thing misleads.
    throw misuse(text.replace(/\. To specify a positional argument .*$/s, ""));
  }
}

function assertSaysSomething(token: { readonly name: string; readonly rawName: string; readonly value?: unknown }) {
  const { name, rawName, value } = token;
  if (typeof value !== "string") {
    return;
  }
  if (value.trim() === "") {
    throw misuse(`--${name}: says nothing`);
  }
  if (!rawName.startsWith("--") && value.startsWith("=")) {
    throw misuse(`${rawName}: its value follows a blank and no "=", as in "${rawName} ${value.slice(1) || "folder"}"`);
  }
}

/** The command was called the wrong way. */
export function misuse(text: string): CreateProviderError {
  return new CreateProviderError("configuration", `${text}\nTry --help.`);
}
