import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../workspace.mjs";

/** What npm put into a project, as sorted `name@version` texts. Nothing for a project into which nothing was put. */
export function installedTree(folder) {
  const file = join(folder, "node_modules", ".package-lock.json");
  if (!existsSync(file)) return [];
  const entries = Object.entries(readJson(file).packages).filter(([path]) => path !== "");
  return [...new Set(entries.map(([path, { name, version }]) => `${name ?? nameOf(path)}@${version}`))].sort();
}

/** One sentence for every package that is there and should not be, or the other way around. */
export function treeProblems(actual, expected) {
  return [
    ...actual.filter((one) => !expected.includes(one)).map((one) => `${one} is a stranger in its tree`),
    ...expected.filter((one) => !actual.includes(one)).map((one) => `${one} is missing from its tree`),
  ];
}

/** What a package brings besides itself and our own peers: `name@range` of its dependencies and of others' peers. */
export function foreignNeeds(manifest, isOurs) {
  const isOptional = (name) => manifest.peerDependenciesMeta?.[name]?.optional === true;
  const peers = Object.entries(manifest.peerDependencies ?? {}).filter(([name]) => !isOptional(name));
  return [...Object.entries(manifest.dependencies ?? {}), ...peers]
    .filter(([name]) => !isOurs(name))
    .map(([name, range]) => `${name}@${range}`)
    .sort();
}

function nameOf(path) {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}
