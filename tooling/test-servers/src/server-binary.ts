import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { toolsFolder } from "./checkout.ts";
import { hasDebianPackages, libraryFolders, unpackDebianPackage } from "./debian-packages.ts";
import { withFileLock } from "./file-lock.ts";

/** A server program and the environment that it needs. */
export interface ServerBinary {
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Where a server program comes from. */
export interface ServerSource {
  /** The program's name on PATH. */
  readonly program: string;
  /** The package of Debian and Ubuntu that holds it. */
  readonly debianPackage: string;
  /** Where the package puts it. */
  readonly debianPath: string;
  /** What a person can do who has neither, as the end of a sentence. */
  readonly advice: string;
}

/**
 * Finds a server program: on PATH, else unpacked in the checkout's `.tools`, else unpacked there now, which is said in
 * one line. Nothing is installed on the system.
 *
 * @throws with advice where there is no such program and no way to fetch it.
 */
export async function findServerBinary(source: ServerSource): Promise<ServerBinary> {
  const installed = onPath(source.program);
  if (installed !== undefined) {
    return { path: installed, env: process.env };
  }
  const folder = join(toolsFolder(), source.debianPackage);
  if (!existsSync(folder)) {
    await fetch(source, folder);
  }
  const libraries = [...(await libraryFolders(folder)), process.env["LD_LIBRARY_PATH"] ?? ""].filter(Boolean);
  return {
    path: join(folder, source.debianPath),
    env: { ...process.env, LD_LIBRARY_PATH: libraries.join(delimiter) },
  };
}

async function fetch({ program, debianPackage, advice }: ServerSource, folder: string): Promise<void> {
  if (!(await hasDebianPackages())) {
    throw new Error(`There is no ${program} on PATH, and no apt-get to fetch it with: ${advice}.`);
  }
  await mkdir(join(folder, ".."), { recursive: true });
  await withFileLock(`${folder}.lock`, async () => {
    if (!existsSync(folder)) {
      say(`no ${program} on PATH; unpacking the package ${debianPackage} into .tools, nothing is installed`);
      await unpackDebianPackage(debianPackage, folder);
    }
  });
}

function onPath(program: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));
}

function say(text: string): void {
  process.stderr.write(`test-servers: ${text}\n`);
}
