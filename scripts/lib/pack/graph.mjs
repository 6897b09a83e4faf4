import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";
import { moduleReferences, packageOf } from "../rules/imports.mjs";
import { binTargets, exportTargets } from "./shape.mjs";

/**
 * What a built file names: `{ specifier, isDynamic }` for each import, re-export, import type and dynamic import whose
 * module is written out.
 */
export function importsOf(path) {
  const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
  return moduleReferences(source).map(({ specifier, isDynamic }) => ({ specifier, isDynamic }));
}

/** The file of a package that a relative import of another one leads to. Declarations name the JavaScript beside them. */
export function targetOf(file, specifier) {
  const target = posix.join(posix.dirname(file), specifier);
  return file.endsWith(".d.ts") ? target.replace(/\.js$/, ".d.ts") : target;
}

/**
 * Follows every import of an unpacked package from its entries and its commands. One sentence for each that leads to
 * nothing, for each package that the manifest does not name, and for each built file that nothing leads to.
 */
export function graphProblems(unpacked, manifest, files) {
  const reached = new Set(startsOf(manifest).filter((file) => files.includes(file)));
  const problems = [];
  for (const file of reached) {
    for (const { specifier } of importsOf(join(unpacked, file))) {
      const name = packageOf(specifier);
      const target = targetOf(file, specifier);
      if (name !== undefined && !isNamed(manifest, name))
        problems.push(`${file} imports "${specifier}", which is neither a dependency nor a peer`);
      else if (specifier.startsWith(".") && !existsSync(join(unpacked, target)))
        problems.push(`${file} imports "${specifier}", which leads to nothing`);
      else if (specifier.startsWith(".") && files.includes(target) && /\.(js|d\.ts)$/.test(target)) reached.add(target);
    }
  }
  const left = files.filter((file) => file.startsWith("dist/") && !reached.has(file.replace(/\.js\.map$/, ".js")));
  return [...problems, ...left.map((file) => `${file} is in the tarball, and nothing of the build leads to it`)];
}

function isNamed({ name: own, dependencies, peerDependencies }, name) {
  return name === own || { ...dependencies, ...peerDependencies }[name] !== undefined;
}

/** The files that somebody names from outside, and the declarations that a build puts beside a command. */
function startsOf(manifest) {
  const files = [...exportTargets(manifest.exports), ...binTargets(manifest)].map(([, path]) => posix.normalize(path));
  const sources = files.filter((file) => /\.(js|d\.ts)$/.test(file));
  return [...sources, ...sources.map((file) => file.replace(/\.js$/, ".d.ts"))];
}
