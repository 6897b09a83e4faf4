import { existsSync } from "node:fs";
import { join } from "node:path";
import semver from "semver";
import { readJson } from "../workspace.mjs";

/**
 * What the examples and the entries of a package need besides the package, as `name@range`: what they import and the
 * optional peers. Ours come in the version of this release, others in the range that the package itself names.
 */
export function exampleNeeds(one, examples, released) {
  const { manifest } = one;
  const peers = Object.keys(manifest.peerDependencies ?? {});
  const imported = examples.flatMap(({ packages }) => packages);
  const names = [...new Set([...imported, ...peers])].filter((name) => name !== one.name).sort();
  return names.map((name) => `${name}@${released.get(name)?.version ?? rangeOf(manifest, name) ?? "*"}`);
}

/** What is imported although no field of package.json names it: nobody knows which version was meant. */
export function needProblems(one, examples, released) {
  const names = [...new Set(examples.flatMap(({ packages }) => packages))];
  return names
    .filter((name) => name !== one.name && !released.has(name) && rangeOf(one.manifest, name) === undefined)
    .map((name) => `an example imports ${name}, which no field of package.json names`);
}

/**
 * Which of some packages lack a peer of their own in a project. The first yarn leaves peers to people, who decide whether they want
 * what needs them; npm and pnpm install them.
 */
export function withoutPeers(folder, names) {
  const manifestOf = (name) => join(folder, "node_modules", name, "package.json");
  return names.filter((name) => {
    if (!existsSync(manifestOf(name))) return true;
    const { peerDependencies = {}, peerDependenciesMeta = {} } = readJson(manifestOf(name));
    const required = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
    return required.some((peer) => !existsSync(manifestOf(peer)));
  });
}

/** Our peers of a package at the oldest version that it takes: `{ name, version }`. */
export function floorsOf({ manifest }, isOurs) {
  return Object.entries(manifest.peerDependencies ?? {})
    .filter(([name]) => isOurs(name))
    .map(([name, range]) => ({ name, version: semver.minVersion(range).version }));
}

function rangeOf(manifest, name) {
  for (const field of ["peerDependencies", "dependencies", "devDependencies"]) {
    const range = manifest[field]?.[name];
    if (range !== undefined) return range;
  }
  return undefined;
}
