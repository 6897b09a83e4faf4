import { lstat, readdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { CreateProviderError } from "./errors.ts";
import { codeOf, firstLink, makeBelow, makeWithParents, unless } from "./folders.ts";
import type { RenderedFiles } from "./render.ts";

/** How to write a project. */
export interface WriteProviderOptions {
  /**
   * Also write to a folder that holds something, replacing files of the same names, but nothing behind a symbolic link.
   * @default false
   */
  readonly force?: boolean | undefined;
}

/**
 * Writes a project to a folder, which is made with its parents when it is missing. A folder that holds nothing but
 * `.git` counts as empty.
 *
 * Nothing behind a symbolic link is written or replaced: not where a file of the project is one, nor where a folder on
 * the way to it is, nor, with `force`, where the folder of the project itself is. Links above that folder are followed.
 * Nobody else may change the folder meanwhile.
 *
 * @throws `configuration` when a file would not be in the folder; `exists`, with nothing changed, when the folder is not
 * empty or is no folder, or a link is in the way, which the message names; `unwritable` when the file system refuses.
 */
export async function writeProvider(
  directory: string,
  files: RenderedFiles,
  { force = false }: WriteProviderOptions = {},
): Promise<void> {
  const root = resolve(directory);
  assertInside(files);
  const found = await contents(root);
  if (!force && found.some((name) => name !== ".git")) {
    throw new CreateProviderError("exists", `directory: ${root} is not empty; choose another, or force it`);
  }
  await refusedAs("cannot be looked at", root, () => assertNoLinks(root, files, force));
  await refusedAs("cannot be made", root, () => makeWithParents(root));
  await refusedAs("cannot be written", root, () => writeFiles(root, files, force));
}

function assertInside(files: RenderedFiles): void {
  for (const path of files.keys()) {
    if (/\\|^[a-z]:/i.test(path) || path.split("/").some((segment) => ["", ".", ".."].includes(segment))) {
      throw new CreateProviderError(
        "configuration",
        `files: a path must name a file in the project, with "/" between segments; it is ${JSON.stringify(path)}`,
      );
    }
  }
}

async function assertNoLinks(root: string, files: RenderedFiles, force: boolean): Promise<void> {
  if (force && (await unless(["ENOENT"], lstat(root)))?.isSymbolicLink()) {
    throw new CreateProviderError("exists", `${linkInTheWay(root)} Name the folder itself.`);
  }
  for (const path of files.keys()) {
    const link = await firstLink(root, path);
    if (link !== undefined) {
      throw new CreateProviderError("exists", `${linkInTheWay(link)} Remove it, or choose another folder.`);
    }
  }
}

function linkInTheWay(link: string): string {
  return `directory: ${link} is a symbolic link, and nothing behind one is written or replaced.`;
}

async function writeFiles(root: string, files: RenderedFiles, force: boolean): Promise<void> {
  for (const [path, text] of files) {
    const target = join(root, path);
    await makeBelow(root, path);
    if (force) {
      await rm(target, { force: true });
    }
    // What has come into its place since, a link above all, is not written through.
    await writeFile(target, text, { flag: "wx" });
  }
}

async function contents(root: string): Promise<string[]> {
  try {
    return await readdir(root);
  } catch (error) {
    if (codeOf(error) === "ENOENT") {
      return assertNothing(root);
    }
    if (codeOf(error) === "ENOTDIR") {
      throw new CreateProviderError("exists", `directory: ${root} is not a folder`, { cause: error });
    }
    throw unwritable(root, "cannot be read", error);
  }
}

/** A link that leads nowhere looks like nothing, and no folder can be made in its place. */
async function assertNothing(root: string): Promise<string[]> {
  const status = await refusedAs("cannot be looked at", root, () => unless(["ENOENT"], lstat(root)));
  if (status?.isSymbolicLink()) {
    throw new CreateProviderError("exists", `directory: ${root} is a symbolic link that leads nowhere`);
  }
  return [];
}

async function refusedAs<T>(what: string, root: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    throw error instanceof CreateProviderError ? error : unwritable(root, what, error);
  }
}

function unwritable(root: string, what: string, error: unknown): CreateProviderError {
  const reason = error instanceof Error ? error.message : String(error);
  return new CreateProviderError("unwritable", `directory: ${root} ${what}: ${reason}`, { cause: error });
}
