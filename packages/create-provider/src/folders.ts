import { lstat, mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CreateProviderError } from "./errors.ts";

/** The first symbolic link on the way from a project's folder to one of its files, or undefined when there is none. */
export async function firstLink(root: string, path: string): Promise<string | undefined> {
  for (const one of steps(root, path)) {
    const status = await unless(["ENOENT", "ENOTDIR"], lstat(one));
    if (status === undefined) {
      return undefined;
    }
    if (status.isSymbolicLink()) {
      return one;
    }
  }
  return undefined;
}

/**
 * Makes a folder and its parents, unless they are there; links on the way are followed.
 *
 * Not Node's own, which never ends where a file system refuses a folder as if its parent were missing.
 */
export async function makeWithParents(folder: string): Promise<void> {
  try {
    await makeUnlessThere(folder);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(folder) === folder) {
      throw error;
    }
    await makeWithParents(dirname(folder));
    await makeUnlessThere(folder);
  }
}

async function makeUnlessThere(folder: string): Promise<void> {
  await unless(["EEXIST"], mkdir(folder));
  if (!(await stat(folder)).isDirectory()) {
    throw notAFolder(folder);
  }
}

/** Makes the folders that a file of a project needs, below the folder of the project; no link is followed. */
export async function makeBelow(root: string, path: string): Promise<void> {
  for (const folder of steps(root, path).slice(0, -1)) {
    await unless(["EEXIST"], mkdir(folder));
    if (!(await lstat(folder)).isDirectory()) {
      throw notAFolder(folder);
    }
  }
}

function notAFolder(path: string): CreateProviderError {
  return new CreateProviderError("unwritable", `directory: ${path} is not a folder`);
}

/** The paths from the first segment below the root to the file itself. */
function steps(root: string, path: string): string[] {
  const segments = path.split("/");
  return segments.map((_, index) => join(root, ...segments.slice(0, index + 1)));
}

/** What a call of the file system gives, or undefined when it fails with one of these codes. */
export async function unless<T>(codes: readonly string[], call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const code = codeOf(error);
    if (typeof code === "string" && codes.includes(code)) {
      return undefined;
    }
    throw error;
  }
}

/** The code of a system error. */
export function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
