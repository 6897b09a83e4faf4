import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listPackages, root } from "../lib/workspace.mjs";
import { write } from "./workspace-fixture.mjs";

const core = "@agentfw/core";

/**
 * A copy of this repository as it may be one day: every package released as `version`, with core as a peer from `floor`,
 * under git. Only what a release is planned from; nothing is built. Returns its folder.
 */
export function repositoryAt({ coreVersion = "1.4.2", version = "1.1.0", floor = "^1.4.0" } = {}) {
  const files = {
    "package.json": { name: "agentfw", private: true, packageManager: readJson("package.json").packageManager },
    "pnpm-workspace.yaml": readFileSync(join(root, "pnpm-workspace.yaml"), "utf8"),
    ".changeset/config.json": readFileSync(join(root, ".changeset", "config.json"), "utf8"),
  };
  for (const { manifest, directory } of listPackages()) {
    const changed = structuredClone(manifest);
    if (manifest.private !== true) changed.version = manifest.name === core ? coreVersion : version;
    if (changed.peerDependencies?.[core] !== undefined) changed.peerDependencies[core] = floor;
    files[`${directory}/package.json`] = `${JSON.stringify(changed, undefined, 2)}\n`;
  }
  const folder = write(files);
  git(folder, "init", "--quiet", "--initial-branch=main");
  commit(folder);
  return folder;
}

/** Writes a changeset: `{ package: step }` and what the changelog says. */
export function changeset(folder, id, steps, summary = "A change.") {
  mkdirSync(join(folder, ".changeset"), { recursive: true });
  const lines = Object.entries(steps).map(([name, step]) => `"@agentfw/${name}": ${step}`);
  writeFileSync(join(folder, ".changeset", `${id}.md`), `---\n${lines.join("\n")}\n---\n\n${summary}\n`);
}

/** Changes a package's manifest. */
export function edit(folder, name, change) {
  const path = join(folder, "packages", name, "package.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  change(manifest);
  writeFileSync(path, `${JSON.stringify(manifest, undefined, 2)}\n`);
}

export function commit(folder) {
  git(folder, "add", ".");
  git(folder, "-c", "user.name=test", "-c", "user.email=test@example.invalid", "commit", "--quiet", "-m", "A state");
}

/** Runs git in a folder; throws where it fails. */
export function git(cwd, ...args) {
  execFileSync("git", args, { cwd, stdio: "pipe" });
}

function readJson(name) {
  return JSON.parse(readFileSync(join(root, name), "utf8"));
}
