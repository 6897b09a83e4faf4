import { existsSync } from "node:fs";
import { join } from "node:path";
import { installProblems } from "../examples/packed.mjs";
import { graphProblems } from "../pack/graph.mjs";
import { shapeProblems } from "../pack/shape.mjs";
import { contents } from "../pack/tarball.mjs";
import { readJson } from "../workspace.mjs";
import { exampleRunProblems, examplesOf, exampleTypeProblems } from "./examples.mjs";
import { entriesOf, loadProblems, optionalPeers } from "./load.mjs";
import { emptyProject } from "./managers.mjs";
import { exampleNeeds, needProblems, withoutPeers } from "./needs.mjs";
import { foreignNeeds, installedTree, treeProblems } from "./tree.mjs";

/**
 * What the proofs of one release share: `released` maps names to packed packages, `registry` is where they are
 * published, `folder` holds the empty projects, `caches` what package managers fetched, `env` says where examples find
 * their servers.
 */
export function proofContext({ released, registry, folder, caches, env }) {
  const drivers = new Map();
  const open = (name, manager) =>
    emptyProject(join(folder, `${manager}-${name.replaceAll("/", "-")}`), { registry, manager, caches });
  return { released, open, drivers, env, isOurs: (name) => released.has(name) };
}

/** What package managers keep under a name and a version may be an earlier build; then nothing was proven. */
function staleProblems({ folder }, { released }) {
  const isReleased = ({ name, version }) => {
    const manifest = join(folder, "node_modules", name, "package.json");
    return existsSync(manifest) && readJson(manifest).version === version;
  };
  return [...released.values()].filter(isReleased).flatMap((one) => installProblems(one, folder));
}

/** With npm, only the package: nothing strange comes along, all of it loads, and its examples do what they say. */
export async function proveAlone(one, context) {
  const project = context.open(one.name, "npm");
  await project.add([`${one.name}@${one.version}`]);
  const problems = staleProblems(project, context);
  problems.push(...treeProblems(installedTree(project.folder), await expectedTree(one, context)));
  // What is packed for a release is what lies in dist then, whoever put it there.
  const place = join(project.folder, "node_modules", one.name);
  problems.push(...shapeProblems(one.manifest, one.files), ...graphProblems(place, one.manifest, contents(place)));
  problems.push(...(await loadProblems(project.folder, one, optionalPeers(one.manifest))));
  return [...problems, ...(await exampleProblems(one, context, project))];
}

/** With another package manager, the package and what its README asks for. */
export async function proveWith(manager, one, context) {
  const project = context.open(one.name, manager);
  await project.add([`${one.name}@${one.version}`]);
  return [...staleProblems(project, context), ...(await exampleProblems(one, context, project))];
}

/** With npm, at the oldest versions of our packages that it takes: `floors` are `{ name, version }`. */
export async function proveFloor(one, floors, context) {
  const project = context.open(`floor-${one.name}`, "npm");
  const pinned = floors.map(({ name, version }) => `${name}@${version}`);
  await project.add([`${one.name}@${one.version}`, ...pinned]);
  const missing = pinned.filter((floor) => !installedTree(project.folder).includes(floor));
  const problems = missing.map((floor) => `${floor} was asked for and is not what was installed`);
  problems.push(...staleProblems(project, context));
  problems.push(...(await loadProblems(project.folder, one, optionalPeers(one.manifest))));
  // Examples with others of our packages are about this release, where those may ask for a newer core.
  const known = [one.name, ...floors.map(({ name }) => name)];
  const examples = examplesOf(one.readme).filter(({ packages }) =>
    packages.every((name) => !context.isOurs(name) || known.includes(name)),
  );
  const older = new Map([...context.released, ...floors.map((floor) => [floor.name, floor])]);
  return [...problems, ...(await checkedExamples(one, { ...context, released: older }, project, examples))];
}

/** npm installs the peers of a package with it, where the project can import them too. */
function isThere({ folder }, need) {
  return installedTree(folder).includes(need);
}

async function exampleProblems(one, context, project) {
  return checkedExamples(one, context, project, examplesOf(one.readme));
}

async function checkedExamples(one, context, project, examples) {
  const problems = needProblems(one, examples, context.released);
  if (problems.length > 0) return problems;
  const needs = exampleNeeds(one, examples, context.released).filter(
    (need) => project.manager !== "npm" || !isThere(project, need),
  );
  if (needs.length > 0) await project.add(needs);
  // npm brought the required peers with the package, and what needs no more was loaded there.
  const optional = optionalPeers(one.manifest);
  const lacking = project.manager === "yarn" ? withoutPeers(project.folder, optional) : [];
  if (project.manager !== "npm" || optional.length > 0)
    problems.push(...(await loadProblems(project.folder, one, lacking)));
  problems.push(...exampleTypeProblems(project.folder, examples, entriesOf(one)));
  return problems.length > 0 ? problems : exampleRunProblems(project.folder, examples, context.env);
}

/** The package, our peers of it, and what installing its drivers alone brings. */
async function expectedTree(one, context) {
  const peers = Object.keys(one.manifest.peerDependencies ?? {}).filter(context.isOurs);
  const ours = [one.name, ...peers].map((name) => `${name}@${context.released.get(name).version}`);
  return [...ours, ...(await driverTree(foreignNeeds(one.manifest, context.isOurs), context))].sort();
}

/** Packages with the same drivers share the project in which these are alone. */
function driverTree(needs, { drivers, open }) {
  if (needs.length === 0) return [];
  const key = needs.join(" ");
  if (!drivers.has(key)) {
    const project = open(`drivers-${drivers.size}`, "npm");
    drivers.set(
      key,
      project.add(needs).then(() => installedTree(project.folder)),
    );
  }
  return drivers.get(key);
}
