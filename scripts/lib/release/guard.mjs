import semver from "semver";
import { scope } from "../rules/kinds.mjs";

/**
 * Why a release must not happen. A step is what becomes of one package: `{ name, before, after }`, two manifests of which
 * `before` is what was released last. `versions` maps the names of our packages to what they have after the release.
 * One sentence for each reason.
 */
export function guardProblems(steps, versions) {
  return steps.flatMap((step) => [...movedPeers(step), ...wrongRanges(step, versions)]);
}

/** Who has a version that a peer range stops taking cannot install the update: that is a breaking step. */
function movedPeers({ name, before, after }) {
  const step = `${before.version} to ${after.version}`;
  if (isBreakingStep(before.version, after.version)) return [];
  return Object.entries(before.peerDependencies ?? {})
    .filter(([peer, range]) => leavesOut(range, after.peerDependencies?.[peer]))
    .map(
      ([peer, range]) =>
        `${name} moves its peer ${peer} from ${range} to ${after.peerDependencies[peer]}, and itself only from ${step}; ` +
        `a changeset must say "${name}": major`,
    );
}

function wrongRanges({ name, after }, versions) {
  const peers = Object.entries(after.peerDependencies ?? {}).filter(([peer]) => peer.startsWith(scope));
  return peers.flatMap(([peer, range]) => {
    if (!/^\^\d+\.\d+\.\d+$/.test(range))
      return [`${name} must say the oldest ${peer} that it works with, such as "^1.4.0", and says "${range}"`];
    const version = versions.get(peer);
    if (version === undefined || semver.satisfies(version, range)) return [];
    return [
      `${name} ${after.version} does not take ${peer} ${version}, which it is released with: its peer is ${range}`,
    ];
  });
}

/** Whether a range takes no version any more of a line that it took: 1.x, or 0.1.x below 1.0.0. */
function leavesOut(before, after) {
  if (after === undefined || before === after) return false;
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

/** A step that tells its users to look: a major, or below 1.0.0 a minor. */
export function isBreakingStep(before, after) {
  const step = semver.diff(before, after);
  if (step === null || semver.lt(after, before)) return false;
  return step.endsWith("major") || (semver.major(before) === 0 && step.endsWith("minor"));
}
