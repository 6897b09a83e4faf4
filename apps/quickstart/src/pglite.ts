import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isPlainObject } from "@agentfw/core";
import { ExplainedError } from "./errors.ts";
import { complain } from "./terminal.ts";

const NAME = "@electric-sql/pglite";

type PGliteModule = typeof import("@electric-sql/pglite");

/** Where PGlite is looked for, and put. */
export interface PGlitePlaces {
  /** The folder with the package.json that pins its version; what is installed there comes first. */
  readonly app: string;
  /** The folder that gets a folder for it where it is not installed. */
  readonly tools: string;
}

const PLACES: PGlitePlaces = {
  app: fileURLToPath(new URL("..", import.meta.url)),
  tools: fileURLToPath(new URL("../../../.tools", import.meta.url)),
};

/** The folder of PGlite, which is fetched when it is nowhere: 27 MB that nobody else should have to wait for. */
export async function findPGlite({ app, tools }: PGlitePlaces = PLACES): Promise<string> {
  const version = pinned(join(app, "package.json"));
  const folder = join(tools, `pglite-${version.replace(/[^\w.-]/g, "_")}`);
  const installed = [app, folder].map(packageIn).find((path) => existsSync(path));
  if (installed === undefined) {
    complain(`Fetching PGlite, a PostgreSQL that runs inside of this program, into ${folder} …`);
    await fetch(version, folder);
  }
  return installed ?? packageIn(folder);
}

/** Loads PGlite, which stays outside of the bundle: it finds its parts beside its own file. */
export async function loadPGlite(): Promise<PGliteModule> {
  const load: (path: string) => PGliteModule = createRequire(import.meta.url);
  return load(await findPGlite());
}

function packageIn(folder: string): string {
  return join(folder, "node_modules", NAME);
}

/** Beside its place, and moved there when it is whole. */
async function fetch(version: string, folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  try {
    await mkdir(unfinished, { recursive: true });
    await npm(["install", "--prefix", unfinished, "--no-save", "--no-audit", "--no-fund", `${NAME}@${version}`]);
    await rename(unfinished, folder).catch((error: unknown) => {
      // Another process may have been quicker.
      if (!existsSync(packageIn(folder))) {
        throw error;
      }
    });
  } catch (error) {
    const cause = error instanceof Error ? error : undefined;
    throw new ExplainedError("PGlite could not be fetched; --url names a server to use in its place", { cause });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

function pinned(manifest: string): string {
  const content: unknown = existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")) : {};
  const versions = isPlainObject(content) ? content["devDependencies"] : undefined;
  const version = isPlainObject(versions) ? versions[NAME] : undefined;
  if (typeof version !== "string") {
    throw new ExplainedError(`${manifest} does not say which version of PGlite there is to be`);
  }
  return version;
}

function npm(args: readonly string[]): Promise<void> {
  // On Windows npm is a script, which only a shell can start.
  const child = spawn("npm", args, { stdio: ["ignore", "pipe", "pipe"], shell: process.platform === "win32" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(output.trim()))));
  });
}
