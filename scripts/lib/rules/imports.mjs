import { builtinModules } from "node:module";
import { dirname, relative, resolve } from "node:path";
import ts from "typescript";
import { kindOf } from "./kinds.mjs";

/** Checks what one source file imports: `area` is "src" or "test". Returns `{ line, text }` for each problem. */
export function importProblems(entry, file, source, area) {
  const problems = [];
  for (const { specifier, node } of moduleReferences(source)) {
    const text = problemOf(entry, file, specifier, area);
    if (text) problems.push({ line: lineOf(source, node), text });
  }
  return problems;
}

function problemOf(entry, file, specifier, area) {
  if (specifier.startsWith(".")) {
    const inside = relative(entry.path, resolve(dirname(file), specifier));
    if (inside.startsWith("..")) return `"${specifier}" leaves the package; import other packages by their names`;
    if (area === "src" && !inside.startsWith("src")) return `"${specifier}" leaves src`;
    return undefined;
  }
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  if (specifier.startsWith("node:") || builtinModules.includes(name)) {
    return kindOf(entry) === "core" && area === "src" ? `core cannot see Node, and imports "${specifier}"` : undefined;
  }
  return isDeclared(entry, name, area)
    ? undefined
    : `"${specifier}" is not ${area === "src" ? "a dependency or a peer" : "a declared dependency"}`;
}

/** The package that a specifier leads to; nothing for a file and for what is Node's own. */
export function packageOf(specifier) {
  if (/^(\.|\/|node:|file:)/.test(specifier)) return undefined;
  const name = /^(@[^/]+\/)?[^/]+/.exec(specifier)[0];
  return builtinModules.includes(name) ? undefined : name;
}

function isDeclared({ group, manifest }, name, area) {
  if (name === manifest.name) return area === "test";
  const fields = ["dependencies", "peerDependencies", "optionalDependencies"];
  // An app is bundled: what its own sources use may be a development dependency, but not of a published package.
  if (area === "test" || group !== "packages") fields.push("devDependencies");
  return fields.some((field) => manifest[field]?.[name] !== undefined);
}

/**
 * Every module that a file names, in imports, re-exports, import types and dynamic imports:
 * `{ specifier, node, isDynamic }`.
 */
export function moduleReferences(source) {
  const found = [];
  const visit = (node) => {
    const target = specifierOf(node);
    if (target && ts.isStringLiteralLike(target))
      found.push({ specifier: target.text, node: target, isDynamic: ts.isCallExpression(node) });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function specifierOf(node) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node)) return node.argument.literal;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return node.arguments[0];
  return undefined;
}

export function lineOf(source, node) {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}
