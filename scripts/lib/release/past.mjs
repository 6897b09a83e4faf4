import { failure, run } from "../run.mjs";

const unreadable = (why) =>
  `the past of this checkout cannot be read, and without it no release is compared with the one before: ${why}`;
const shallow = unreadable("it is a shallow clone; git fetch --unshallow, and fetch-depth: 0 in a CI");
const foreign = unreadable("its package.json is in no commit of this repository; git clone it, or git add and commit");

/**
 * The manifests with which our packages got their versions: `{ past, problems }`. `past` maps a package's name to its
 * manifests, newest first, one for each version, as it was when it got that version, whatever its folder was called then.
 * Where that cannot be told for certain `past` is empty and `problems` says why, and what mends it.
 */
export async function readPast(base) {
  const why = await whyUnreadable(base);
  if (why !== undefined) return { past: new Map(), problems: [why] };
  const past = new Map();
  for (const { commit, path } of await changedVersions(base)) {
    const manifest = parse(await must(base, ["show", `${commit}:./${path}`]));
    if (typeof manifest?.name !== "string" || typeof manifest.version !== "string") continue;
    if (!past.has(manifest.name)) past.set(manifest.name, new Map());
    // The oldest commit with a version is the one that gave it.
    past.get(manifest.name).set(manifest.version, manifest);
  }
  return { past: new Map([...past].map(([name, versions]) => [name, [...versions.values()]])), problems: [] };
}

async function whyUnreadable(base) {
  const answer = await git(base, ["rev-parse", "--is-shallow-repository"]);
  if (answer.code !== 0) return unreadable(`${firstLine(answer.output)}; install git, and git clone this repository`);
  if (answer.output.trim() !== "false") return shallow;
  // A checkout without git inside of another repository would be read as one without a past.
  return (await git(base, ["cat-file", "-e", "HEAD:./package.json"])).code === 0 ? undefined : foreign;
}

/** Where the line with a version changed, also in merges, newest first. A rename is the end of one file and a new one. */
async function changedVersions(base) {
  const how = [
    "--topo-order",
    "-m",
    "--no-renames",
    "--diff-filter=AM",
    "--relative",
    "--name-only",
    "--format=%x00%H",
  ];
  // The paths are from the folder of the checkout, which may be inside of a repository.
  const log = await must(base, ["log", ...how, "-G", '"version"', "--", ":(glob)*/*/package.json"]);
  return log.split("\0").flatMap((block) => {
    const [commit, ...paths] = block.split("\n").filter(Boolean);
    return paths.map((path) => ({ commit, path }));
  });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    // A commit with a conflict in it gave nobody a version.
    return undefined;
  }
}

async function must(base, args) {
  const { code, output } = await git(base, args);
  if (code !== 0) throw failure(unreadable(`git ${args.join(" ")}: ${output.trim()}`));
  return output;
}

/** Whose the checkout is does not matter to who runs its scripts anyway. */
function git(cwd, args) {
  return run("git", ["-c", "safe.directory=*", "-c", "core.quotePath=false", ...args], { cwd });
}

function firstLine(text) {
  return text.trim().split("\n")[0];
}
