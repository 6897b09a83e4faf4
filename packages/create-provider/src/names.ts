import validateNpmPackageName from "validate-npm-package-name";
import { CreateProviderError } from "./errors.ts";
import { kindWords, type ProviderKind } from "./kinds.ts";

/** What a new provider is asked to be. */
export interface ProviderRequest {
  readonly kind: ProviderKind;
  /** The engine or service behind it, in lower case with hyphens: `sqlite`, `my-sql`. At most 60 characters. */
  readonly name: string;
  /** The npm scope of the package, with or without its `@`. @default none: the package is `agentfw-<kind>-<name>` */
  readonly scope?: string | undefined;
}

/** Every name in a new project, derived from the request. */
export interface ProviderNames {
  readonly kind: ProviderKind;
  readonly name: string;
  /** `agentfw-history-sqlite`, or `@scope/history-sqlite`. */
  readonly packageName: string;
  /** The folder that is made when no other is asked for: the package's name without its scope. */
  readonly folder: string;
  /** Named in the errors of the package: `history-sqlite`. */
  readonly provider: string;
  /** `SqliteHistoryStore`. */
  readonly className: string;
  /** The class's file, without extension: `sqlite-history-store`. */
  readonly fileName: string;
  /** One sentence for package.json and README. */
  readonly description: string;
}

const MAX_NAME = 60;

/**
 * Derives every name of a new project, and refuses what no package, file or class can be called.
 *
 * @throws `configuration` naming the argument and the rule.
 */
export function nameProvider({ kind, name, scope }: ProviderRequest): ProviderNames {
  const { port, purpose } = kindWords(kind);
  assertName(kind, name);
  const provider = `${kind}-${name}`;
  const owner = scope === undefined ? undefined : scopeName(scope);
  const packageName = owner === undefined ? `agentfw-${provider}` : `@${owner}/${provider}`;
  const { errors = [], warnings = [] } = validateNpmPackageName(packageName);
  if (errors.length > 0 || warnings.length > 0) {
    throw refuse(
      "name",
      `${JSON.stringify(packageName)} is no name for a package: ${[...errors, ...warnings].join(", ")}`,
    );
  }
  return {
    kind,
    name,
    packageName,
    folder: owner === undefined ? packageName : provider,
    provider,
    className: pascalCase(name) + port,
    fileName: `${name}-${kebabCase(port)}`,
    description: `${purpose}, on ${name}.`,
  };
}

function assertName(kind: ProviderKind, name: string): void {
  if (name.length > MAX_NAME || !/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)) {
    throw refuse(
      "name",
      `must be lower-case letters, digits and single hyphens, begin with a letter and be at most ${MAX_NAME} characters ` +
        `long, as in "sqlite" or "my-sql"; it is ${shown(name)}`,
    );
  }
  const rest = withoutOwnWords(kind, name);
  if (rest !== name) {
    throw refuse(
      "name",
      `say what is behind the provider only, as in "${rest || "sqlite"}": the package is agentfw-${kind}-${rest || "sqlite"}, ` +
        `or @scope/${kind}-${rest || "sqlite"}, and its class ends with ${kindWords(kind).port}; it is ${shown(name)}`,
    );
  }
}

/** A name without what every name of a provider of this kind says anyway, at its beginning and at its end. */
function withoutOwnWords(kind: ProviderKind, name: string): string {
  const [first = kind] = kind.split("-");
  for (const word of [kebabCase(kindWords(kind).port), kind, first, "agentfw"]) {
    if (name === word || name.startsWith(`${word}-`)) {
      return withoutOwnWords(kind, name.slice(word.length + 1));
    }
    if (name.endsWith(`-${word}`)) {
      return withoutOwnWords(kind, name.slice(0, -word.length - 1));
    }
  }
  return name;
}

function scopeName(scope: string): string {
  const owner = scope.replace(/^@/, "");
  // Alone, since what npm keeps for itself is looked for in whole names only. Its warnings are about packages: a scope
  // may be called as a module of Node is.
  const { errors = [] } = validateNpmPackageName(owner);
  if (owner.length > 100 || !/^[a-z0-9][a-z0-9._-]*$/.test(owner) || errors.length > 0) {
    throw refuse(
      "scope",
      `must be the name of an npm user or organization, as in "@acme": lower-case letters, digits, ".", "_" and "-", ` +
        `and no name that npm refuses, such as "node_modules"; it is ${shown(scope)}`,
    );
  }
  return owner;
}

/** What was passed, made harmless for a terminal and not too long for a line. */
function shown(text: string): string {
  return JSON.stringify(text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text);
}

function refuse(argument: string, rule: string): CreateProviderError {
  return new CreateProviderError("configuration", `${argument}: ${rule}`);
}

function pascalCase(name: string): string {
  return name.replace(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}

function kebabCase(name: string): string {
  return name.replace(/\B[A-Z]/g, "-$&").toLowerCase();
}
