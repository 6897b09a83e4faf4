import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { contents } from "../pack/tarball.mjs";
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
 * `{ name, version, tarball, unpacked }`.
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
  const packed = join(path, ".pack", "package");
  if (!existsSync(packed)) throw failure(`${directory} is not packed yet: npm run check`);
  const unpacked = join(folder, "package");
  cpSync(packed, unpacked, { recursive: true });
  const file = join(unpacked, "package.json");
  const manifest = readJson(file);
  const version = servedVersion(manifest.version);
  writeFileSync(file, `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
  const tarball = join(folder, "package.tgz");
  const { code, output } = await run("tar", ["-czf", tarball, "-C", folder, "package"]);
  if (code !== 0) throw failure(`${directory} could not be packed again:\n${output}`);
  return { name: manifest.name, version, tarball, unpacked };
}

/** npm keeps what it fetched by its address, and a port of this machine may be somebody's again. One sentence for each. */
export function installProblems({ name, unpacked }, project) {
  const installed = join(project, "node_modules", name);
  return contents(unpacked)
    .map((file) => [file, join(unpacked, file), join(installed, file)])
    .filter(([, from, to]) => !existsSync(to) || !readFileSync(from).equals(readFileSync(to)))
    .map(([file]) => `${name}/${file} was installed otherwise than it was packed`);
}
