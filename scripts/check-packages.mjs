// Who may know whom, and what a package looks like. Exit code 1 and one line per problem when a rule is broken.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { dependencyProblems } from "./lib/rules/dependencies.mjs";
import { importProblems, moduleReferences, packageOf } from "./lib/rules/imports.mjs";
import { kindOf } from "./lib/rules/kinds.mjs";
import { manifestProblems } from "./lib/rules/manifest.mjs";
import { sourceProblems, testProblems } from "./lib/rules/source.mjs";
import { twinProblems } from "./lib/rules/twins.mjs";
import { listFiles, listPackages, root } from "./lib/workspace.mjs";

/** Every broken rule of a checkout, as `path:line: what is wrong`. */
export function checkPackages(base = root) {
  const packages = listPackages(base);
  const kinds = new Map(
    packages.map((entry) => [entry.manifest.name, entry.manifest.private ? "private" : kindOf(entry)]),
  );
  return [
    ...twinProblems(base),
    ...packages.flatMap((entry) => [
      ...manifestProblems(entry, kinds).map((problem) => `${entry.directory}: ${problem}`),
      ...broughtProblems(base, entry).map((problem) => `${entry.directory}: ${problem}`),
      ...["src", "test"].flatMap((area) => areaProblems(base, entry, area)),
    ]),
  ];
}

/** What a published package brings along is decided on, and used. */
function broughtProblems(base, entry) {
  if (entry.group !== "packages") return [];
  const imported = sourcesIn(entry, "src").flatMap(({ source }) => moduleReferences(source));
  return dependencyProblems(base, entry, new Set(imported.map(({ specifier }) => packageOf(specifier))));
}

function sourcesIn(entry, area) {
  const files = listFiles(join(entry.path, area), (name) => /\.[cm]?tsx?$/.test(name));
  return files.map((file) => ({
    file,
    source: ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true),
  }));
}

function areaProblems(base, entry, area) {
  const isPublished = entry.group === "packages";
  return sourcesIn(entry, area).flatMap(({ file, source }) => {
    const problems = [
      ...importProblems(entry, file, source, area),
      ...(area === "src" && isPublished ? sourceProblems(entry, file, source) : []),
      ...(area === "test" ? testProblems(source) : []),
    ];
    return problems.map(({ line, text }) => `${relative(base, file).replaceAll("\\", "/")}:${line}: ${text}`);
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const problems = checkPackages();
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
