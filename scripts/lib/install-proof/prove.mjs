import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mapParallel } from "../parallel.mjs";
import { withServers } from "../readmes/servers.mjs";
import { kindOf } from "../rules/kinds.mjs";
import { failure, run, seconds } from "../run.mjs";
import { examplesOf } from "./examples.mjs";
import { publishOlder } from "./floors.mjs";
import { forgetOurs } from "./memory.mjs";
import { floorsOf } from "./needs.mjs";
import { proofContext, proveAlone, proveFloor, proveWith } from "./proofs.mjs";

/**
 * Publishes packed packages to a started registry and proves their installs. `packed` is what a release packs, with the
 * text of each README as `readme`; `others` says with how many packages yarn and pnpm are tried: none, some, every.
 * Returns one text per problem; `report(line)` hears what was done.
 */
export async function proveInstalls({ packed, registry, folder, caches, report, others = "some" }) {
  const unpacked = await mapParallel(packed, 2, (one) => unpack(one, join(folder, "unpacked")));
  const released = new Map(unpacked.map((one) => [one.name, one]));
  forgetOurs(caches);
  const start = Date.now();
  await mapParallel(packed, 2, ({ tarball }) => registry.publish(tarball));
  report(`${packed.length} packages published on this machine (${seconds(start)})`);
  return withServers(runningCodes(packed), (env) =>
    proveAll(
      { packed, registry, folder, report, others },
      proofContext({ released, registry: registry.url, folder, caches, env }),
    ),
  );
}

/** A packed package with the folder in which its tarball is `unpacked`. */
async function unpack(one, folder) {
  const place = join(folder, one.name.replaceAll("/", "-"));
  mkdirSync(place, { recursive: true });
  const { code, output } = await run("tar", ["-xzf", one.tarball, "-C", place]);
  if (code !== 0) throw failure(`${one.tarball} could not be unpacked:\n${output}`);
  return { ...one, unpacked: join(place, "package") };
}

/** The code of all examples that are run. */
function runningCodes(packed) {
  return packed.flatMap(({ readme }) =>
    examplesOf(readme)
      .filter(({ run }) => run)
      .map(({ code }) => code),
  );
}

async function proveAll({ packed, registry, folder, report, others }, context) {
  const olderNeeded = packed
    .map((one) => ({ one, floors: floorsOf(one, context.isOurs) }))
    .filter(({ floors }) => floors.some(({ name, version }) => context.released.get(name).version !== version));
  await publishOlder(olderNeeded, registry, join(folder, "older"));
  const jobs = [
    ...packed.map((one) => ({ one, title: "alone, with npm", run: () => proveAlone(one, context) })),
    ...olderNeeded.map(({ one, floors }) => ({
      one,
      title: `with ${floors.map(({ name, version }) => `${name} ${version}`).join(", ")}`,
      run: () => proveFloor(one, floors, context),
    })),
    ...otherManagers(packed, others).map(({ one, manager }) => ({
      one,
      title: `with ${manager}`,
      run: () => proveWith(manager, one, context),
    })),
  ];
  const problems = await mapParallel(jobs, 2, (job) => runJob(job, report));
  reportFloors(packed, olderNeeded, context, report);
  return problems.flat();
}

async function runJob({ one, title, run }, report) {
  const start = Date.now();
  const problems = await run();
  report(`${one.name} ${title}: ${problems.length === 0 ? "ok" : "FAILED"} (${seconds(start)})`);
  return problems.map((problem) => `${one.name} ${title}: ${problem}`);
}

/** A flat folder and isolated ones, with one backend each that brings a driver; or with every package. */
function otherManagers(packed, others) {
  if (others === "none") return [];
  if (others === "every") return packed.flatMap((one) => ["yarn", "pnpm"].map((manager) => ({ one, manager })));
  const backends = packed.filter(isBackend).sort((a, b) => (a.name < b.name ? -1 : 1));
  const withDriver = backends.filter(({ manifest }) => Object.keys(manifest.dependencies ?? {}).length > 0);
  const chosen = withDriver.length > 0 ? withDriver : backends;
  if (chosen.length === 0) return [];
  return [
    { one: chosen[0], manager: "yarn" },
    { one: chosen.at(-1), manager: "pnpm" },
  ];
}

function isBackend({ directory }) {
  const [group, folder] = directory.split("/");
  return kindOf({ group, folder }) === "backend";
}

/** Where the oldest version is that of this release, the install alone was the install at the floor. */
function reportFloors(packed, olderNeeded, { isOurs }, report) {
  const older = new Set(olderNeeded.map(({ one }) => one.name));
  const same = packed.filter((one) => !older.has(one.name) && floorsOf(one, isOurs).length > 0);
  if (same.length > 0)
    report(`${same.length} packages were installed alone with the oldest versions of ours that they take`);
}

/** The packed packages with the READMEs of a release copy. */
export function withReadmes(packed, copy) {
  return packed.map((one) => ({ ...one, readme: readFileSync(join(copy, one.directory, "README.md"), "utf8") }));
}
