import { cp, mkdir, mkdtemp, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { must } from "./programs.ts";
import { releaseVersion } from "./versions.ts";

const PACKAGES = join(import.meta.dirname, "..", "..", "..");
const ROOT = join(PACKAGES, "..");
const PNPM = join(ROOT, "scripts", "pnpm.mjs");

/** What a project finds above itself; ours are the tarballs of a release, the others the ones of this workspace. */
const OURS = ["core", "provider-testing"];
const TOOLS = ["typescript", "vitest", "@types/node"];
const COMMANDS = { tsc: "../typescript/bin/tsc", vitest: "../vitest/vitest.mjs" };

/** A folder outside of the workspace in which projects find what npm would have installed for them. */
export interface Outside {
  readonly folder: string;
  /** The compiler, for Node to run. */
  readonly tsc: string;
  /** The tarball of one of our packages, as a release would publish it. */
  tarball(name: string): string;
  /** What keeps an npm that something else runs without a network. */
  readonly offline: Readonly<Record<string, string>>;
  /** Runs npm in a folder in here, without a network. */
  npm(args: readonly string[], cwd?: string): Promise<string>;
}

/** Builds and packs core and the kit, and installs the tarballs with npm. The registry is asked for nothing. */
export async function openOutside(): Promise<Outside> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "agentfw-create-")));
  const packed = join(folder, "packed");
  await mkdir(packed);
  const filters = ["create-provider", ...OURS].map((name) => `--filter=@agentfw/${name}`);
  await must(process.execPath, [PNPM, "exec", "turbo", "run", "build", ...filters], ROOT);
  const tarball = (name: string) => join(packed, `${name}.tgz`);
  const theirs = await dependencies();
  await Promise.all([...OURS.map((name) => pack(name, packed)), ...theirs.map((name) => packInstalled(name, packed))]);
  const npm = (args: readonly string[], cwd = folder) =>
    must("npm", [...args, "--offline", "--no-audit", "--no-fund", `--cache=${join(folder, "cache")}`], cwd);
  await writeFile(join(folder, "package.json"), '{ "private": true }\n');
  await npm(["install", "--no-save", ...[...OURS, ...theirs].map(tarball)]);
  await linkTools(join(folder, "node_modules"));
  const offline = { npm_config_offline: "true", npm_config_cache: join(folder, "cache") };
  return { folder, offline, tsc: join(folder, "node_modules", "typescript", "bin", "tsc"), tarball, npm };
}

/** Before the first release the version is one that no floor admits; the tarball gets the one that it will have. */
async function pack(name: string, packed: string): Promise<void> {
  const source = join(PACKAGES, name);
  const { version } = await readManifest(source);
  await must(process.execPath, [PNPM, "pack", "--pack-destination", packed], source);
  const unpacked = join(packed, name);
  await mkdir(unpacked);
  await must("tar", ["-xzf", `agentfw-${name}-${version}.tgz`, "-C", name], packed);
  const file = join(unpacked, "package", "package.json");
  const manifest = await readManifest(join(unpacked, "package"));
  await writeFile(file, JSON.stringify({ ...manifest, version: releaseVersion(manifest.version) }));
  await must("tar", ["-czf", `${name}.tgz`, "-C", name, "package"], packed);
}

/** What the kit depends on. None of them depends on anything, else npm would ask for it and fail. */
async function dependencies(): Promise<string[]> {
  const { dependencies: found } = await readManifest(join(PACKAGES, "provider-testing"));
  return Object.keys(found ?? {});
}

/** A dependency of the kit, from where the workspace has it. */
async function packInstalled(name: string, packed: string): Promise<void> {
  const source = await realpath(join(PACKAGES, "provider-testing", "node_modules", name));
  await cp(source, join(packed, name, "package"), { recursive: true });
  await must("tar", ["-czf", `${name}.tgz`, "-C", name, "package"], packed);
}

async function linkTools(modules: string): Promise<void> {
  for (const name of TOOLS) {
    await mkdir(join(modules, name, ".."), { recursive: true });
    await symlink(await realpath(join(ROOT, "node_modules", name)), join(modules, name), "junction");
  }
  for (const [command, target] of Object.entries(COMMANDS)) {
    await symlink(target, join(modules, ".bin", command));
  }
}

/** The package.json of a folder. */
export async function readManifest(folder: string): Promise<{ readonly version: string } & Record<string, unknown>> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}
