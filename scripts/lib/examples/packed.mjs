import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scope } from "../rules/kinds.mjs";
import { failure, run } from "../run.mjs";
import { listPackages, readJson, root } from "../workspace.mjs";
import { listExamples } from "./list.mjs";

/** What was never released has the version that its first release will have; peers ask for that one from the first day. */
const firstVersion = "0.1.0";

export function servedVersion(version) {
  return version === "0.0.0" ? firstVersion : version;
}

/**
 * The packages of ours that the examples name, and those that these need, packed with the version that is served:
 * `{ manifest, tarball }` with the tarball's bytes.
 */
export async function packedForExamples(folder, base = root) {
  const published = new Map(
    listPackages(base)
      .filter(({ manifest }) => manifest.private !== true)
      .map((entry) => [entry.manifest.name, entry]),
  );
  const wanted = neededNames(
    listExamples(base).map(({ manifest }) => manifest),
    new Map([...published].map(([name, { manifest }]) => [name, manifest])),
  );
  mkdirSync(folder, { recursive: true });
  return Promise.all(wanted.map((name) => repack(published.get(name), join(folder, name.slice(scope.length)))));
}

/** The names of ours in some manifests, with what those need in their turn. Development is the manifests' own only. */
export function neededNames(manifests, published) {
  const found = new Set();
  const visit = (names) => {
    for (const name of names.filter((one) => one.startsWith(scope) && !found.has(one))) {
      if (!published.has(name)) throw failure(`an example needs ${name}, which is no package that is published here`);
      found.add(name);
      const { dependencies, peerDependencies } = published.get(name);
      visit(Object.keys({ ...dependencies, ...peerDependencies }));
    }
  };
  for (const { dependencies, devDependencies, peerDependencies } of manifests)
    visit(Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies }));
  return [...found].sort();
}

async function repack({ path, directory }, folder) {
  const unpacked = join(path, ".pack", "package");
  if (!existsSync(unpacked)) throw failure(`${directory} is not packed yet: npm run check`);
  cpSync(unpacked, join(folder, "package"), { recursive: true });
  const file = join(folder, "package", "package.json");
  const packed = readJson(file);
  const manifest = { ...packed, version: servedVersion(packed.version) };
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  const { code, output } = await run("tar", ["-czf", "package.tgz", "package"], { cwd: folder });
  if (code !== 0) throw failure(`${directory} could not be packed again:\n${output}`);
  return { manifest, tarball: readFileSync(join(folder, "package.tgz")) };
}
