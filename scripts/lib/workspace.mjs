import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this checkout. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The folders that hold workspace packages, the same as in pnpm-workspace.yaml. */
export const groups = ["packages", "apps", "tooling"];

export function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** Every workspace package: `{ group, folder, directory, path, manifest }`, in order of their paths. */
export function listPackages(base = root) {
  const found = [];
  for (const group of groups) {
    const parent = join(base, group);
    if (!existsSync(parent)) continue;
    for (const folder of readdirSync(parent).sort()) {
      const path = join(parent, folder);
      if (!existsSync(join(path, "package.json"))) continue;
      found.push({
        group,
        folder,
        directory: `${group}/${folder}`,
        path,
        manifest: readJson(join(path, "package.json")),
      });
    }
  }
  return found;
}

/** Files below a folder that satisfy `accept(name)`, sorted; generated and installed folders are left out. */
export function listFiles(folder, accept) {
  if (!existsSync(folder)) return [];
  const found = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "node_modules" && entry.name !== "dist" && !entry.name.startsWith(".")) {
        found.push(...listFiles(path, accept));
      }
    } else if (accept(entry.name)) found.push(path);
  }
  return found.sort();
}

/** One hash over the contents of some files. */
export function hashFiles(paths) {
  const hash = createHash("sha256");
  for (const path of paths) hash.update(readFileSync(path)).update("\0");
  return hash.digest("hex");
}
