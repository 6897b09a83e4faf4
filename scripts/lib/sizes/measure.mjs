import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { place } from "../pack/alone.mjs";
import { weigh } from "../pack/size.mjs";
import { failure } from "../run.mjs";
import { listPackages, readJson } from "../workspace.mjs";
import { limitOf } from "./limits.mjs";
import { loadedBy } from "./loaded.mjs";
import { importTimes } from "./times.mjs";

/**
 * Measures every entry of every package that was packed: `{ entry, isMain, bytes, allBytes, limit, ours, foreign, packages,
 * times? }`. `entry` is what one imports; `times` are there for main entries whose row `needsTimes` asks for.
 */
export async function measureSizes({ needsTimes = () => false, report = () => {} } = {}) {
  const rows = [];
  for (const one of listPackages().filter(({ manifest }) => manifest.private !== true)) {
    report(one.manifest.name);
    rows.push(...(await measurePackage(one, needsTimes)));
  }
  return rows;
}

async function measurePackage({ path, directory }, needsTimes) {
  const unpacked = join(path, ".pack", "package");
  const manifest = readPacked(unpacked, directory);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agentfw-sizes-")));
  try {
    place(folder, path, unpacked, manifest);
    const rows = [];
    for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
      if (subpath === "./package.json") continue;
      const entry = manifest.name + subpath.slice(1);
      const isMain = subpath === ".";
      const { files, ...loaded } = await loadedBy(folder, entry);
      const weight = await weigh(join(folder, "node_modules", manifest.name, target.default), files);
      rows.push({ entry, isMain, ...weight, limit: limitOf({ directory, subpath }), ...loaded });
      if (isMain && needsTimes(rows.at(-1))) rows.at(-1).times = await importTimes(folder, entry, driversOf(manifest));
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a package cannot do without and is not ours. */
function driversOf(manifest) {
  const isOptional = (name) => manifest.peerDependenciesMeta?.[name]?.optional === true;
  return Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).filter(
    (name) => !name.startsWith("@agentfw/") && !isOptional(name),
  );
}

function readPacked(unpacked, directory) {
  try {
    return readJson(join(unpacked, "package.json"));
  } catch {
    throw failure(`${directory} was not packed: npm run check`);
  }
}
