import { root } from "../workspace.mjs";
import { withReleaseCopy } from "./copy.mjs";
import { packCopy } from "./packed.mjs";
import { planRelease } from "./plan.mjs";

/**
 * What a release of a built checkout would publish: the plan's `{ releases, problems, notes }`, each release with its
 * `tarball`, `{ bytes, files }`.
 */
export function dryRelease(base = root) {
  return withReleaseCopy(async (copy) => {
    const { releases, problems, notes } = await planRelease(copy, base);
    const packed = new Map((await packCopy(copy)).map((one) => [one.name, one]));
    const withTarballs = releases.map((release) => {
      const { bytes, files } = packed.get(release.name);
      return { ...release, tarball: { bytes, files } };
    });
    return { releases: withTarballs, problems, notes };
  }, base);
}
