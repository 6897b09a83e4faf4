import { run } from "../run.mjs";

/**
 * The manifests with which a package got its versions, newest first, as far as the history of the checkout tells: one for
 * each version, as it was when it got that version. A checkout without a history has none.
 */
export async function pastManifests(base, directory) {
  const path = `${directory}/package.json`;
  // Where the line changed; the paths are from the folder of the checkout, which may be inside of a repository.
  const log = await git(base, ["log", "--format=%H", "-G", '^  "version": ', "--", path]);
  const byVersion = new Map();
  for (const commit of log.split("\n").filter(Boolean)) {
    const text = await git(base, ["show", `${commit}:./${path}`]);
    if (text === "") continue;
    const manifest = JSON.parse(text);
    // The oldest commit with a version is the one that gave it.
    byVersion.set(manifest.version, manifest);
  }
  return [...byVersion.values()];
}

/** Whether older commits may be missing, which is a reason to trust the past less. */
export async function isShallow(base) {
  return (await git(base, ["rev-parse", "--is-shallow-repository"])).trim() !== "false";
}

async function git(cwd, args) {
  const { code, output } = await run("git", args, { cwd });
  return code === 0 ? output : "";
}
