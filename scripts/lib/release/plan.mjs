import { createRequire } from "node:module";
import { join } from "node:path";
import { listPackages, root } from "../workspace.mjs";
import { versionCopy } from "./copy.mjs";
import { guardProblems, unreleased } from "./guard.mjs";
import { readPast } from "./past.mjs";

const { default: getReleasePlan } = createRequire(join(root, "package.json"))("@changesets/get-release-plan");

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
  // Before the first release nobody has anything that the next one could break, and no past is needed.
  const isReleased = before.some(({ manifest }) => manifest.version !== unreleased);
  const { past, problems } = isReleased ? await readPast(base) : { past: new Map(), problems: [] };
  const packages = before.map(({ manifest }) => {
    const chosen = plan.changesets.flatMap((one) => one.releases.filter(({ name }) => name === manifest.name));
    return {
      name: manifest.name,
      now: manifest,
      after: after.get(manifest.name),
      chosen: chosen.map(({ type }) => type),
    };
  });
  const guarded = guardProblems(stepsOf(packages, past), packages);
  const unseen = problems.length > 0 ? [] : withoutPast(packages, past);
  return { releases, problems: [...problems, ...unseen, ...guarded], notes: warnings };
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
function stepsOf(packages, past) {
  const steps = packages.flatMap(({ name, now, after }) => {
    const known = past.get(name) ?? [];
    const last = known.find(({ version }) => version === now.version) ?? now;
    const older = known.find(({ version }) => version !== now.version);
    return [{ name, before: last, after }, ...(older === undefined ? [] : [{ name, before: older, after: last }])];
  });
  return steps.filter(({ before }) => before.version !== unreleased);
}

/** A released package of which no commit tells is one that the guard would compare with itself. */
function withoutPast(packages, past) {
  return packages
    .filter(({ name, now }) => now.version !== unreleased && !past.has(name))
    .map(({ name, now }) => `${name} ${now.version} is in no commit, and what it was before is not known; commit it`);
}
