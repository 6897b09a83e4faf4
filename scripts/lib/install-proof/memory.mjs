import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scope } from "../rules/kinds.mjs";
import { hashFiles, listFiles, readJson, root } from "../workspace.mjs";

const home = join(root, ".cache", "installs");
const memory = join(home, "proven.json");
const maxAgeMs = 7 * 24 * 3600 * 1000;

/** Where package managers keep what they fetched. It begins anew now and then, because every run adds to it. */
export function cacheFolder() {
  const folder = join(home, "fetched");
  const marker = join(folder, "since");
  if (existsSync(marker) && Date.now() - statSync(marker).mtimeMs > maxAgeMs)
    rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (!existsSync(marker)) writeFileSync(marker, "");
  return folder;
}

/**
 * Takes what is ours out of the cache in which yarn looks by name and version before it asks a registry: what we pack has the
 * same version until it is released, and other contents each time.
 */
export function forgetOurs(caches) {
  const folder = join(caches, "yarn");
  if (!existsSync(folder)) return;
  for (const version of readdirSync(folder))
    for (const name of readdirSync(join(folder, version)))
      if (name.startsWith(`npm-${scope.slice(0, -1)}-`)) rmSync(join(folder, version, name), { recursive: true });
}

/** Whether exactly these packages passed with exactly these scripts, on this Node and not too long ago. */
export function wasProven(packed, copy) {
  if (!existsSync(memory)) return false;
  const { key, at } = readJson(memory);
  // The drivers that an install finds change without us.
  return key === keyOf(packed, copy) && Date.now() - at < maxAgeMs;
}

export function rememberProof(packed, copy) {
  mkdirSync(home, { recursive: true });
  writeFileSync(memory, JSON.stringify({ key: keyOf(packed, copy), at: Date.now() }));
}

/** From what is inside of the tarballs; they themselves hold the time at which they were packed. */
function keyOf(packed, copy) {
  const hash = createHash("sha256");
  const scripts = listFiles(join(root, "scripts", "lib"), (name) => name.endsWith(".mjs"));
  hash.update(hashFiles([...scripts, join(root, "scripts", "install-proof.mjs")]));
  hash.update(`${process.version} ${process.platform} ${process.arch}\n`);
  for (const { directory, manifest, files } of packed) {
    const contents = files.filter((file) => file !== "package.json").map((file) => join(copy, directory, file));
    hash.update(JSON.stringify([sorted(manifest), files, hashFiles(contents)]));
  }
  return hash.digest("hex");
}

/** The order of some fields of a packed manifest is another one each time. */
function sorted(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}
