import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CreateProviderError } from "./errors.ts";
import type { RenderedFiles } from "./render.ts";

/** How to write a project. */
export interface WriteProviderOptions {
  /** Also write to a folder that holds something, replacing files of the same names. @default false */
  readonly force?: boolean | undefined;
}

/**
 * Writes a project to a folder, which is made when it is missing. A folder that holds nothing but `.git` counts as
 * empty.
 *
 * @throws `exists`, with nothing changed, when the folder is not empty or is no folder; `unwritable` when the file
 * system refuses.
 */
export async function writeProvider(
  directory: string,
  files: RenderedFiles,
  { force = false }: WriteProviderOptions = {},
): Promise<void> {
  if (!force && (await contents(directory)).some((name) => name !== ".git")) {
    throw new CreateProviderError("exists", `directory: ${directory} is not empty; choose another, or force it`);
  }
  try {
    for (const [path, text] of files) {
      const target = join(directory, path);
      await mkdir(dirname(target), { recursive: true });
      if (force) {
        // A link goes away as a link; what it leads to is nobody's to replace.
        await rm(target, { force: true });
      }
      await writeFile(target, text, { flag: "wx" });
    }
  } catch (error) {
    throw new CreateProviderError("unwritable", `directory: ${reason(error)}`, { cause: error });
  }
}

async function contents(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (codeOf(error) === "ENOENT") {
      return [];
    }
    if (codeOf(error) === "ENOTDIR") {
      throw new CreateProviderError("exists", `directory: ${directory} is not a folder`, { cause: error });
    }
    throw new CreateProviderError("unwritable", `directory: ${reason(error)}`, { cause: error });
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
