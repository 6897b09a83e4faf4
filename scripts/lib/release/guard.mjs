import semver from "semver";
import { scope } from "../rules/kinds.mjs";

/** What a manifest says that was never released. */
export const unreleased = "0.0.0";

/**
 * Why a release must not happen. `steps` are what becomes of packages that were released: `{ name, before, after }`, two
 * manifests of which `before` is what was released last. `packages` are all of ours: `{ name, now, after, chosen }`, the
 * manifest of the checkout, the one that the release writes, and the steps that changesets say of the package. One sentence
 * for each reason.
 */
export function guardProblems(steps, packages) {
  const versions = new Map(packages.map(({ name, after }) => [name, after.version]));
  return [
    ...steps.flatMap(movedPeers),
    ...packages.flatMap((one) => [...loweredFloors(one, versions), ...wrongRanges(one, versions), ...unchosen(one)]),
  ];
}

/** Who has a version that a peer range stops taking cannot install the update: that is a breaking step. */
function movedPeers({ name, before, after }) {
  const step = `${before.version} to ${after.version}`;
  if (isBreakingStep(before.version, after.version)) return [];
  return Object.entries(before.peerDependencies ?? {}).flatMap(([peer, range]) => {
    const move = moveOf(peer, range, after);
    if (move === undefined) return [];
    return [
      `${name} ${move}, and itself only from ${step}; a changeset must say "${name}": ${breaking(before.version)}`,
    ];
  });
}

/** What a package does to a peer that it had, when that asks something of its users; or `undefined`. */
function moveOf(peer, range, { peerDependencies, dependencies, optionalDependencies }) {
  const now = peerDependencies?.[peer];
  // Whose peer was the one copy of an application gets a copy of its own, or nothing that says which it works with.
  if (now === undefined) {
    const isOwn = { ...dependencies, ...optionalDependencies }[peer] !== undefined;
    return isOwn ? `makes its peer ${peer} ${range} a dependency` : `takes away its peer ${peer} ${range}`;
  }
  return leavesOut(range, now) ? `moves its peer ${peer} from ${range} to ${now}` : undefined;
}

/** Whoever wrote a floor knows what the package uses; changesets writes another one over it when the release is below. */
function loweredFloors({ name, now, after }, versions) {
  return ourPeers(now).flatMap(([peer, range]) => {
    const floor = after.peerDependencies?.[peer];
    if (floor === undefined || !isFloor(range) || !isFloor(floor) || !semver.lt(floor.slice(1), range.slice(1)))
      return [];
    return [
      `${name} says that it needs ${peer} ${range}, and this release would write ${floor} over it, because it has ` +
        `${peer} ${versions.get(peer)}; a changeset must give ${peer} ${range.slice(1)}, or the floor be lowered by hand`,
    ];
  });
}

function wrongRanges({ name, after }, versions) {
  return ourPeers(after).flatMap(([peer, range]) => {
    if (!isFloor(range))
      return [`${name} must say the oldest ${peer} that it works with, such as "^1.4.0", and says "${range}"`];
    const version = versions.get(peer);
    if (version === undefined) return [`${name} has the peer ${peer}, which is not published from this checkout`];
    // What is not released with this has no version yet that anybody could install.
    if (after.version === unreleased || semver.satisfies(version, range)) return [];
    const why = semver.lt(version, range.slice(1)) ? `its floor ${range} is above that` : `its peer is ${range}`;
    return [`${name} ${after.version} does not take ${peer} ${version}, which it is released with: ${why}`];
  });
}

/** changesets makes a package 1.0.0 when a peer leaves its range, and 1.0.0 is a promise that somebody must want to give. */
function unchosen({ name, now, after, chosen }) {
  if (semver.major(now.version) > 0 || semver.major(after.version) === 0 || chosen.includes("major")) return [];
  const moved = ourPeers(now).filter(([peer, range]) => after.peerDependencies?.[peer] !== range);
  const why = moved.map(([peer, range]) => `, because ${peer} leaves ${range}`).join("");
  const floors = moved.map(([peer]) => `the peer ${peer} "${after.peerDependencies?.[peer]}" in its package.json and `);
  const patches = moved.map(([peer]) => `; or, where nothing breaks, the changeset of ${peer} must say patch`);
  return [
    `${name} would become ${after.version}${why}, and no changeset says so; write ${floors.join("")}a changeset ` +
      `"${name}": minor, or "${name}": major if it shall be ${after.version}${patches.join("")}`,
  ];
}

function ourPeers({ peerDependencies }) {
  return Object.entries(peerDependencies ?? {}).filter(([peer]) => peer.startsWith(scope));
}

function isFloor(range) {
  return /^\^\d+\.\d+\.\d+$/.test(range);
}

/** Whether a range takes no version any more of a line that it took: 1.x, or 0.1.x below 1.0.0. */
function leavesOut(before, after) {
  if (before === after) return false;
  // A range that only a workspace can read is refused where it is ours, and replaced when it is packed.
  if (semver.validRange(before) === null || semver.validRange(after) === null) return false;
  return breakingLines(before).some((line) => !semver.intersects(line, after));
}

/** The lines that a range takes versions of, each as a range; a range without an end has the line of its beginning. */
function breakingLines(range) {
  return new semver.Range(range).set.map((comparators) => {
    const first = semver.minVersion(comparators.map(({ value }) => value).join(" "));
    return `^${first.version}`;
  });
}

function breaking(version) {
  return semver.major(version) === 0 ? "minor" : "major";
}

/** A step that tells its users to look: a major, or below 1.0.0 a minor. */
export function isBreakingStep(before, after) {
  const step = semver.diff(before, after);
  if (step === null || semver.lt(after, before)) return false;
  return step.endsWith("major") || (semver.major(before) === 0 && step.endsWith("minor"));
}
