import { createRequire } from "node:module";
import { join } from "node:path";
import { listPackages, root } from "../workspace.mjs";
import { versionCopy } from "./copy.mjs";
import { guardProblems } from "./guard.mjs";
import { isShallow, pastManifests } from "./past.mjs";

const { default: getReleasePlan } = createRequire(join(root, "package.json"))("@changesets/get-release-plan");
const unreleased = "0.0.0";
const incomplete = "the history of this checkout is not complete, and older releases were not compared";

/**
 * Makes the next release in a copy of a checkout and says what it is: `{ releases, problems, notes }`. A release is
 * `{ name, directory, from, to, bump, changesets, peers, reason? }`; `problems` are the guard's. The copy then holds what
 * would be published.
 */
export async function planRelease(copy, base = root) {
  const { plan, warnings } = await readPlan(copy);
  const before = publishable(copy);
  await versionCopy(copy);
  const after = new Map(publishable(copy).map(({ manifest }) => [manifest.name, manifest]));
  const summaries = new Map(plan.changesets.map((one) => [one.id, one]));
  const releases = before
    .filter(({ manifest }) => after.get(manifest.name).version !== manifest.version)
    .map((entry) => releaseOf(entry, after.get(entry.manifest.name), plan, summaries));
  const versions = new Map([...after].map(([name, { version }]) => [name, version]));
  const steps = await stepsOf(base, before, after);
  const shallow = (await isShallow(base)) ? [incomplete] : [];
  return { releases, problems: guardProblems(steps, versions), notes: [...shallow, ...warnings] };
}

/** changesets speaks to the console. That a floor is not released yet says it of every package before the first release. */
async function readPlan(copy) {
  const warnings = [];
  const { error, warn } = console;
  console.error = (...words) => warnings.push(words.join(" "));
  console.warn = console.error;
  try {
    const plan = await getReleasePlan(copy);
    return { plan, warnings: warnings.filter((text) => !text.includes(`"${unreleased}" vs`)) };
  } finally {
    Object.assign(console, { error, warn });
  }
}

function publishable(folder) {
  return listPackages(folder).filter(({ manifest }) => manifest.private !== true);
}

function releaseOf({ manifest, directory }, after, plan, summaries) {
  const planned = plan.releases.find(({ name }) => name === manifest.name);
  const changesets = (planned?.changesets ?? []).map((id) => ({
    id,
    bump: summaries.get(id).releases.find(({ name }) => name === manifest.name)?.type,
    summary: summaries.get(id).summary.split("\n")[0],
  }));
  const peers = Object.entries(after.peerDependencies ?? {}).map(([name, range]) => ({
    name,
    from: manifest.peerDependencies?.[name] ?? null,
    to: range,
  }));
  const step = {
    name: manifest.name,
    directory,
    from: manifest.version,
    to: after.version,
    bump: planned?.type,
    changesets,
    peers,
  };
  const moved = peers.filter(({ from, to }) => from !== to).map(({ name }) => name);
  return changesets.length > 0 || moved.length === 0
    ? step
    : { ...step, reason: `its range left out ${moved.join(", ")}` };
}

/**
 * For each package, what this release makes of what was released last; and what the last release made of the one
 * before, which is how a release that was committed already is looked at. What was never released breaks nobody.
 */
async function stepsOf(base, before, after) {
  const steps = [];
  for (const { manifest, directory } of before) {
    const { name } = manifest;
    const past = await pastManifests(base, directory);
    const last = past.find(({ version }) => version === manifest.version) ?? manifest;
    const older = past.find(({ version }) => version !== manifest.version);
    steps.push({ name, before: last, after: after.get(name) });
    if (older !== undefined) steps.push({ name, before: older, after: last });
  }
  return steps.filter((step) => step.before.version !== unreleased);
}
