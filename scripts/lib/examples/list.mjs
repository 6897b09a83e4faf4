import { existsSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { readJson } from "../workspace.mjs";

/** Every project in examples/: `{ folder, directory, path, manifest }`. None of them belongs to the workspace. */
export function listExamples(base) {
  const parent = join(base, "examples");
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .sort()
    .map((folder) => ({ folder, directory: `examples/${folder}`, path: join(parent, folder) }))
    .filter(({ path }) => existsSync(join(path, "package.json")))
    .map((example) => ({ ...example, manifest: readJson(join(example.path, "package.json")) }));
}

/** True for what somebody wrote: not for what was installed, built or reported. */
export function isSourceOf(path, file) {
  const made = ["node_modules", "dist", ".reports"];
  return !relative(path, file)
    .split(sep)
    .some((part) => made.includes(part));
}
