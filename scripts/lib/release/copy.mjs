import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { failure, run } from "../run.mjs";
import { listPackages, root } from "../workspace.mjs";

const { resolve } = createRequire(join(root, "package.json"));
const ofCheckout = ["package.json", "pnpm-workspace.yaml", "pnpm-lock.yaml", ".changeset"];
// Beside what a package's own `files` names.
const ofPackage = ["package.json", "README.md", "LICENSE", "CHANGELOG.md"];

/**
 * Runs `use(folder)` on a copy of what a release reads of a checkout: manifests, changesets, texts and, where they were
 * built, the files to publish. Inside this checkout, so that its tools are found; taken away afterwards.
 */
export async function withReleaseCopy(use, base = root) {
  const cache = join(root, ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "release-"));
  try {
    for (const name of ofCheckout) copyIfThere(join(base, name), join(folder, name));
    const packages = listPackages(base);
    for (const { path, directory, manifest } of packages) {
      mkdirSync(join(folder, directory), { recursive: true });
      for (const name of [...ofPackage, ...(manifest.files ?? [])])
        copyIfThere(join(path, name), join(folder, directory, name));
    }
    linkEachOther(folder, packages);
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Lets changesets write the versions, ranges and changelogs of the next release into a copy. */
export async function versionCopy(folder) {
  const { code, output } = await run(process.execPath, [resolve("@changesets/cli/bin.js"), "version"], { cwd: folder });
  if (code !== 0) throw failure(`The changesets do not come to a release:\n${output}`);
}

function copyIfThere(from, to) {
  if (existsSync(from)) cpSync(from, to, { recursive: true });
}

/** pnpm learns what `workspace:*` stands for from the package that is linked there. */
function linkEachOther(folder, packages) {
  const places = new Map(packages.map(({ manifest, directory }) => [manifest.name, directory]));
  for (const { manifest, directory } of packages) {
    for (const [name, range] of Object.entries({ ...manifest.devDependencies, ...manifest.dependencies })) {
      if (!range.startsWith("workspace:") || !places.has(name)) continue;
      const link = join(folder, directory, "node_modules", dirname(name), basename(name));
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(folder, places.get(name)), link, "junction");
    }
  }
}
