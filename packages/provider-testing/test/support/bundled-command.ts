import { type ChildProcess, execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll } from "vitest";

/** How a process ended, and what it printed. */
export interface Ended {
  readonly code: number;
  readonly output: string;
  readonly stdout: string;
}

/** The command as it is published, in a folder of its own with some stores to run it on. */
export interface BundledCommand {
  cli(): string;
  fixture(name: string): string;
  path(name: string): string;
  /** Writes a file into the folder and gives its path. */
  write(name: string, ...lines: readonly string[]): Promise<string>;
  node(...args: string[]): Promise<Ended>;
  /** As `node`, and hands the process out. */
  start(args: readonly string[], onStart: (child: ChildProcess) => void): Promise<Ended>;
}

/**
 * Bundles the command and fixtures for the tests of one file. Everything is bundled apart, so the store and the command
 * hold two copies of core, as separate packages may.
 */
export function bundledCommand(fixtures: readonly string[]): BundledCommand {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "agentfw-provider-test-"));
    await build({
      entryPoints: ["src/cli.ts", ...fixtures.map((name) => `test/fixtures/${name}.ts`)],
      external: ["jiti"],
      outdir: folder,
      outbase: ".",
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      outExtension: { ".js": ".mjs" },
      logLevel: "error",
    });
    await mkdir(join(folder, "node_modules"));
    await symlink(resolve("node_modules/jiti"), join(folder, "node_modules", "jiti"));
    await copyFile("package.json", join(folder, "package.json"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const path = (name: string) => join(folder, name);
  return {
    cli: () => join(folder, "src", "cli.mjs"),
    fixture: (name) => join(folder, "test", "fixtures", `${name}.mjs`),
    path,
    write: async (name, ...lines) => {
      await writeFile(path(name), lines.join("\n"));
      return path(name);
    },
    node: (...args) => start(args, () => {}),
    start,
  };
}

function start(args: readonly string[], onStart: (child: ChildProcess) => void): Promise<Ended> {
  const env = { ...process.env, NO_COLOR: "1", NODE_OPTIONS: "", NODE_TEST_CONTEXT: undefined };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { env, maxBuffer: 16_000_000 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, output: stdout + stderr, stdout });
    });
    onStart(child);
  });
}
