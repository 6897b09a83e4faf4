import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { importsOf, targetOf } from "../pack/graph.mjs";
import { binTargets, exportTargets } from "../pack/shape.mjs";
import { contents } from "../pack/tarball.mjs";
import { packageOf } from "../rules/imports.mjs";
import { run } from "../run.mjs";

const done = "everything was loaded";

/** The entries of a package, as those who use it name them. */
export function entriesOf({ name, manifest }) {
  return entryTargets({ name, manifest }).map(([entry]) => entry);
}

/** The peers without which a package can be installed. */
export function optionalPeers({ peerDependenciesMeta = {} }) {
  return Object.keys(peerDependenciesMeta).filter((name) => peerDependenciesMeta[name].optional === true);
}

/**
 * Loads what an installed package can load, in one fresh process: every entry, every JavaScript file of its build,
 * whoever imports it and when, and every package that one of them imports on demand. Then its commands are run with
 * --help. What needs one of the packages `without` at once is left out. Returns problems.
 */
export async function loadProblems(folder, one, without = []) {
  const place = realpathSync(join(folder, "node_modules", one.name));
  const { entries, inside } = loadable(place, one, without);
  // From inside of the package an import finds what the package itself would find.
  writeFileSync(join(place, ".load.mjs"), "export const load = (specifier) => import(specifier);\n");
  const script = join(folder, "load-everything.mjs");
  writeFileSync(script, loader(pathToFileURL(join(place, ".load.mjs")).href, entries, inside));
  const { code, output } = await run(process.execPath, [script], { cwd: folder });
  const text = output.trim();
  if (code !== 0) return [`it does not load (code ${code}): ${text}`];
  if (!text.endsWith(done)) return [`the process ended while it was loaded, with code 0: ${text}`];
  return commandProblems(folder, place, one);
}

function loader(inside, entries, specifiers) {
  return `
import { load } from ${JSON.stringify(inside)};
const failed = [];
async function attempt(name, load, isEntry) {
  try {
    const all = await load(name);
    if (isEntry && Object.keys(all).length === 0) failed.push(\`\${name} exports nothing\`);
  } catch (error) {
    failed.push(\`\${name} cannot be imported: \${error?.message ?? error}\`);
  }
}
for (const name of ${JSON.stringify(entries)}) await attempt(name, (entry) => import(entry), true);
for (const name of ${JSON.stringify(specifiers)}) await attempt(name, load, false);
process.stdout.write(failed.length === 0 ? ${JSON.stringify(done)} : failed.join("\\n"), () => process.exit(failed.length === 0 ? 0 : 1));
`;
}

/** What is to be loaded: entries by their names, and what is to be imported from the package's own folder. */
function loadable(place, one, without) {
  const scripts = contents(place).filter((file) => file.startsWith("dist/") && file.endsWith(".js"));
  const imports = new Map(scripts.map((file) => [file, importsOf(join(place, file))]));
  const commands = binTargets(one.manifest).map(([, path]) => path.replace(/^\.\//, ""));
  const isLoadable = (file) => needsAtOnce(file, imports).every((name) => !without.includes(name));
  const onDemand = [...imports].flatMap(([file, named]) =>
    named.filter(({ isDynamic }) => isDynamic).map(({ specifier }) => ({ file, specifier })),
  );
  // What is imported on demand is tried also where there is no such file, which nobody would hear of before the call.
  const chunks = onDemand
    .filter(({ specifier }) => specifier.startsWith("."))
    .map(({ file, specifier }) => targetOf(file, specifier));
  const files = [...new Set([...scripts, ...chunks])].filter((file) => !commands.includes(file) && isLoadable(file));
  const packages = onDemand
    .map(({ specifier }) => specifier)
    .filter((specifier) => packageOf(specifier) !== undefined && !without.includes(packageOf(specifier)));
  const entries = entryTargets(one).filter(([, path]) => files.includes(path.replace(/^\.\//, "")));
  return {
    entries: entries.map(([entry]) => entry),
    inside: [...files.map((file) => `./${file}`), ...new Set(packages)],
  };
}

/** The packages that a file imports before anybody called anything in it. */
function needsAtOnce(file, imports) {
  const reached = new Set([file]);
  const names = new Set();
  for (const at of reached) {
    for (const { specifier } of (imports.get(at) ?? []).filter(({ isDynamic }) => !isDynamic)) {
      const name = packageOf(specifier);
      if (name !== undefined) names.add(name);
      else if (specifier.startsWith(".")) reached.add(targetOf(at, specifier));
    }
  }
  return [...names];
}

function entryTargets({ name, manifest }) {
  return exportTargets(manifest.exports)
    .filter(([, path]) => path.endsWith(".js"))
    .map(([from, path]) => [name + from.slice("exports .".length), path]);
}

async function commandProblems(folder, place, { manifest }) {
  const problems = [];
  for (const [name, path] of binTargets(manifest)) {
    const { code, output } = await run(process.execPath, [join(place, path), "--help"], { cwd: folder });
    if (code !== 0 || output.trim() === "") problems.push(`${name} --help ended with code ${code}: ${output.trim()}`);
  }
  return problems;
}
