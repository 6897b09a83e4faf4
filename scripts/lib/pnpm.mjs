import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { npm } from "./npm.mjs";
import { failure, say, seconds } from "./run.mjs";
import { readJson, root } from "./workspace.mjs";

const tools = join(root, ".tools");

/** The version that package.json pins; the lockfile was written by it. */
export function pinnedVersion() {
  return readJson(join(root, "package.json")).packageManager.split("@")[1].split("+")[0];
}

/**
 * Finds the pinned pnpm, fetching it into .tools when it is nowhere, and returns `{ script, folder }`:
 * the file that Node runs, and the folder that goes on PATH for those who call pnpm by its name.
 */
export async function findPnpm() {
  const version = pinnedVersion();
  const known = inTools(version) ?? onPath(version);
  if (known) return known;
  const start = Date.now();
  const { code, output } = await npm([
    "install",
    "--prefix",
    tools,
    "--no-save",
    "--no-audit",
    "--no-fund",
    `pnpm@${version}`,
  ]);
  const fetched = inTools(version);
  if (code !== 0 || !fetched) throw failure(`pnpm ${version} could not be fetched with npm:\n${output}`);
  say(`Fetched pnpm ${version} into .tools (${seconds(start)}).`);
  return fetched;
}

/** The environment in which `pnpm` means the pinned one. */
export function withPnpm(pnpm) {
  const key = Object.keys(process.env).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
  const path = [pnpm.folder, join(root, "node_modules", ".bin"), process.env[key]].join(delimiter);
  return { ...process.env, ...colors(), [key]: path, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" };
}

/** The tools write to a pipe; whether their output ends on a terminal is known only here. */
function colors() {
  if (process.env.NO_COLOR !== undefined || process.env.FORCE_COLOR !== undefined) return {};
  return process.stdout.isTTY ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" };
}

function inTools(version) {
  const folder = join(tools, "node_modules", "pnpm");
  const script = join(folder, "bin", "pnpm.cjs");
  if (!existsSync(script) || readJson(join(folder, "package.json")).version !== version) return undefined;
  return { script, folder: join(tools, "node_modules", ".bin") };
}

/** Asks the files and not the program: a pnpm of another version, or corepack, would start to download the pinned one. */
function onPath(version) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const link = join(folder, "pnpm");
    if (folder === "" || !existsSync(link)) continue;
    const script = realpathSync(link);
    const manifest = join(dirname(dirname(script)), "package.json");
    if (basename(script) !== "pnpm.cjs" || !existsSync(manifest)) return undefined;
    const { name, version: found } = JSON.parse(readFileSync(manifest, "utf8"));
    return name === "pnpm" && found === version ? { script, folder } : undefined;
  }
  return undefined;
}
