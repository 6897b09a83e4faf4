import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { findPnpm } from "../pnpm.mjs";
import { failure, run } from "../run.mjs";
import { listPackages } from "../workspace.mjs";

/**
 * Packs every package of a copy that can be published, as a release would: `{ name, version, directory, manifest,
 * tarball, bytes, files }`
 * in order of their paths, where `manifest` is the published one. Packages that were not built are a failure.
 */
export async function packCopy(folder) {
  const publishable = listPackages(folder).filter(({ manifest }) => manifest.private !== true);
  if (publishable.length === 0) return [];
  const tarballs = join(folder, ".tarballs");
  mkdirSync(tarballs, { recursive: true });
  const pnpm = await findPnpm();
  const filters = publishable.flatMap(({ manifest }) => ["--filter", manifest.name]);
  const args = ["--recursive", ...filters, "pack", "--json", "--pack-destination", tarballs];
  const output = await must(process.execPath, [pnpm.script, ...args], folder);
  const packed = [JSON.parse(output.slice(output.search(/^[[{]/m)))].flat();
  const directories = new Map(publishable.map(({ manifest, directory }) => [manifest.name, directory]));
  const described = await Promise.all(packed.map((one) => describe(one, directories.get(one.name))));
  return described.sort((a, b) => (a.directory < b.directory ? -1 : 1));
}

async function describe({ name, version, filename, files }, directory) {
  const manifest = JSON.parse(await must("tar", ["-xzOf", filename, "package/package.json"]));
  const paths = files.map(({ path }) => path).sort();
  if (!paths.some((path) => path.startsWith("dist/"))) throw failure(`${name} was not built: npm run build`);
  return { name, version, directory, manifest, tarball: filename, bytes: statSync(filename).size, files: paths };
}

async function must(command, args, cwd) {
  const { code, output } = await run(command, args, { cwd });
  if (code !== 0) throw failure(`${command} ${args.join(" ")} failed:\n${output}`);
  return output;
}
