import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { npm } from "../npm.mjs";
import { failure, say, seconds } from "../run.mjs";
import { hashFiles, root } from "../workspace.mjs";

const recipe = join(root, "scripts", "registry");

/**
 * The folder of the registry and of the second package manager, fetched into .tools when they are not there. What is
 * fetched stands in a lockfile of its own; where it comes from is each person's own npm setting.
 */
export async function registryTools() {
  const id = hashFiles([join(recipe, "package-lock.json")]).slice(0, 12);
  const folder = join(root, ".tools", `registry-${id}`);
  if (existsSync(folder)) return folder;
  const start = Date.now();
  mkdirSync(join(root, ".tools"), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.`);
  try {
    for (const name of ["package.json", "package-lock.json", ".npmrc"])
      cpSync(join(recipe, name), join(unfinished, name));
    const { code, output } = await npm(["ci", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: unfinished });
    if (code !== 0) throw failure(`The local registry could not be fetched with npm; it is needed once:\n${output}`);
    moveInto(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  say(`Fetched a local registry into .tools (${seconds(start)}).`);
  return folder;
}

/** Another process may have been quicker; what it put there is the same. */
function moveInto(unfinished, folder) {
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}
