import { writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import ts from "typescript";
import { typescriptBlocks } from "../readmes/blocks.mjs";
import { exampleProblems } from "../readmes/execute.mjs";
import { resolutions, typeProblems } from "./types.mjs";

/** A README's examples: `{ name, code, run, packages }`, `packages` being the names of what it imports. */
export function examplesOf(readme) {
  return typescriptBlocks(readme).map(({ line, code, run: runs }) => ({
    name: `readme-${line}`,
    // Blank lines before the code make its line numbers those of the README.
    code: `${"\n".repeat(line - 1)}${code}\n`,
    run: runs,
    packages: importedPackages(code),
  }));
}

/** The packages that a text imports from, Node's own left out. */
export function importedPackages(code) {
  const specifiers = ts.preProcessFile(code).importedFiles.map(({ fileName }) => fileName);
  const names = specifiers
    .filter((specifier) => !/^(\.|node:)/.test(specifier))
    .map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)[0]);
  return [...new Set(names)].filter((name) => !builtinModules.includes(name)).sort();
}

/** Compiles the examples and every entry of the package in a project, in both resolutions. Returns problems. */
export function exampleTypeProblems(folder, examples, entries) {
  const files = [
    ...examples.map(({ name, code }) => ({ path: join(folder, `${name}.ts`), code })),
    {
      path: join(folder, "entries.ts"),
      code: entries.map((entry, index) => `export * as entry${index} from ${JSON.stringify(entry)};\n`).join(""),
    },
  ];
  for (const { path, code } of files) writeFileSync(path, code);
  const paths = files.map(({ path }) => path.replaceAll("\\", "/"));
  return Object.keys(resolutions).flatMap((resolution) =>
    typeProblems(folder, paths, resolution).map((problem) => `under ${resolution}: ${problem}`),
  );
}

/** Runs the examples that ask for it, as they stand, on what is installed and in `env`. Returns problems. */
export async function exampleRunProblems(folder, examples, env) {
  const problems = [];
  for (const { name, code } of examples.filter((example) => example.run)) {
    const { outputText } = ts.transpileModule(code, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true },
    });
    writeFileSync(join(folder, `${name}.js`), outputText);
    const found = await exampleProblems(`${name}.js`, { cwd: folder, env });
    problems.push(...found.map((problem) => `${name} ${problem.trim()}`));
  }
  return problems;
}
