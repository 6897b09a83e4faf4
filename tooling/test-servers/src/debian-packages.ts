import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "./run-command.ts";

/** True where packages can be fetched the Debian way. */
export async function hasDebianPackages(): Promise<boolean> {
  const results = await Promise.all([runCommand("apt-get", ["--version"]), runCommand("dpkg-deb", ["--version"])]);
  return results.every(({ code }) => code === 0);
}

/**
 * Unpacks a package of the running Debian or Ubuntu, with every library that is not installed, below `folder`. Nothing
 * is installed, no rights are needed, and the system's own package lists stay as they are.
 *
 * The folder appears in one step when everything is in it, so a killed run leaves no half of it, and of two runs at once
 * one wins and the other one uses what it finds.
 *
 * @throws when the package cannot be fetched, with what apt said.
 */
export async function unpackDebianPackage(name: string, folder: string): Promise<void> {
  await mkdir(join(folder, ".."), { recursive: true });
  const work = await mkdtemp(`${folder}.`);
  try {
    const content = join(work, "content");
    const packages = await download(name, work);
    await mkdir(content);
    for (const file of packages) {
      await mustRun("dpkg-deb", ["--extract", file, content]);
    }
    await moveInto(content, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The folders with shared libraries below an unpacked package. */
export async function libraryFolders(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const base of ["usr/lib", "lib"]) {
    const names = existsSync(join(folder, base)) ? await readdir(join(folder, base)) : [];
    found.push(...names.filter((name) => name.includes("-linux-")).map((name) => join(folder, base, name)));
  }
  return found;
}

async function download(name: string, work: string): Promise<string[]> {
  const archives = join(work, "archives");
  const lists = join(work, "lists");
  await Promise.all([archives, lists].map((path) => mkdir(join(path, "partial"), { recursive: true })));
  const options = [
    `Dir::State::lists=${lists}`,
    `Dir::Cache=${work}`,
    `Dir::Cache::archives=${archives}`,
    // Everything that apt would lock is in a folder of our own.
    "Debug::NoLocking=1",
    // Run by root, apt drops to a user that may not write there.
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);
  // Ends with an error when only one of many sources is down; whether that matters shows in the next step.
  const update = await runCommand("apt-get", ["-qq", ...options, "update"]);
  const wanted = ["-qq", "-y", ...options, "install", "--download-only", "--no-install-recommends", name];
  const { code, output } = await runCommand("apt-get", wanted);
  const files = (await readdir(archives)).filter((file) => file.endsWith(".deb"));
  if (code !== 0 || files.length === 0) {
    throw new Error(`apt-get could not fetch ${name}:\n${update.output}${output}`);
  }
  return files.map((file) => join(archives, file));
}

async function moveInto(content: string, folder: string): Promise<void> {
  try {
    await rename(content, folder);
  } catch (error) {
    // Somebody else was faster.
    if (!existsSync(folder)) {
      throw error;
    }
  }
}

async function mustRun(command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runCommand(command, args);
  if (code !== 0) {
    throw new Error(`${command} ${args.join(" ")} failed:\n${output}`);
  }
}
