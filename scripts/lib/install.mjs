import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPnpm } from "./pnpm.mjs";
import { failure, run, say, seconds } from "./run.mjs";
import { listPackages, readJson, root } from "./workspace.mjs";

// Inside node_modules, so that whoever deletes that folder deletes the memory of it too.
const marker = join(root, "node_modules", ".agentfw-install.json");
// pnpm's own record of the last install, whoever started it.
const installed = join(root, "node_modules", ".modules.yaml");

/**
 * Installs what the lockfile says, unless that was done before, and returns the pinned pnpm.
 * `app` names one workspace package: then only what it needs to run is installed. Without it, everything is.
 */
export async function ensureInstalled(app) {
  const pnpm = await findPnpm();
  const hash = lockHash();
  const done = existsSync(marker) && existsSync(installed) ? readJson(marker) : undefined;
  const known = done !== undefined && done.modified === statSync(installed).mtimeMs ? done.scopes : undefined;
  if (done?.hash === hash && (known?.includes("all") || known?.includes(app))) return pnpm;

  // A partial install over a full one, or over one that nobody knows about, would take the developer's tools away.
  const partial = app !== undefined && (known === undefined ? !existsSync(installed) : !known.includes("all"));
  rmSync(marker, { force: true });
  await install(pnpm, partial ? app : undefined);
  const scopes = partial ? [...new Set([...(done?.hash === hash ? (known ?? []) : []), app])] : ["all"];
  writeFileSync(marker, `${JSON.stringify({ hash, scopes, modified: statSync(installed).mtimeMs })}\n`);
  return pnpm;
}

async function install(pnpm, app) {
  const start = Date.now();
  say(app === undefined ? "Installing dependencies …" : `Installing what ${app} needs …`);
  const args = ["install", "--frozen-lockfile", "--config.confirmModulesPurge=false"];
  if (app !== undefined) args.push("--prod", "--filter-prod", `${app}...`);
  const { code, output } = await run(process.execPath, [pnpm.script, ...args]);
  if (code !== 0) throw failure(`The dependencies could not be installed:\n${output}`);
  say(`Installed (${seconds(start)}).`);
}

/** Changes when the lockfile, the workspace or the dependencies of any package change. */
function lockHash() {
  const hash = createHash("sha256");
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml"]) hash.update(readFileSync(join(root, file)));
  const manifests = [readJson(join(root, "package.json")), ...listPackages().map(({ manifest }) => manifest)];
  for (const { name, dependencies, devDependencies, optionalDependencies, peerDependencies } of manifests) {
    hash.update(JSON.stringify([name, dependencies, devDependencies, optionalDependencies, peerDependencies]));
  }
  return hash.digest("hex");
}
