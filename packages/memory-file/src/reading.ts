import type { BigIntStats } from "node:fs";
import { readdir } from "node:fs/promises";
import { type FileEntry, type FileMatch, report } from "@agentfw/core";
import { systemCode } from "@agentfw/core/backend";
import { type FileSearchLimits, type SearchedFile, searchFiles } from "@agentfw/core/files";
import type { Directories } from "./directories.ts";
import { refusedError, storeError } from "./errors.ts";
import { closeRead, fstatNow, open, READ_ONLY, readAll, unless } from "./file-calls.ts";
import { isFileName, isReserved } from "./names.ts";
import { type OpenDirectory, statusesIn, using } from "./open-directory.ts";
import type { Settings } from "./options.ts";
import { PROVIDER } from "./provider-name.ts";
import { etagOf } from "./stamps.ts";
import type { Place } from "./writing.ts";

/** Reads so many files at once. */
const AT_ONCE = 16;

/** Codes for a file that is not searched, of the system and of our own. */
const SKIPPED: readonly string[] = ["ELOOP", "ENXIO", "corrupt", "too_large"];

/** A file as it was read. */
export interface ReadFile {
  readonly text: string;
  readonly etag: string;
}

/** A directory among an owner's files: the segments of the owner's, and those below it. */
export interface Folder {
  readonly owner: readonly string[];
  readonly segments: readonly string[];
}

/** Everything that only looks. Needs no lock: a file is replaced as a whole, and an opened one stays what it is. */
export class Reading {
  readonly #settings: Settings;
  readonly #directories: Directories;

  constructor(settings: Settings, directories: Directories) {
    this.#settings = settings;
    this.#directories = directories;
  }

  async read({ directory, name }: Place): Promise<ReadFile | undefined> {
    return this.#directories.within(directory, async (found) =>
      (await this.#directories.isSpelled(found, name)) ? this.#readIn(found, name) : undefined,
    );
  }

  async exists({ directory, name }: Place): Promise<boolean> {
    const status = await this.#directories.within(directory, (found) => this.#directories.fileIn(found, name));
    if (status !== undefined) {
      assertPlainFile(status, name);
    }
    return status !== undefined;
  }

  /** The paths of all files below a directory, sorted. */
  async list(folder: Folder, assertWanted: () => void = () => undefined): Promise<string[]> {
    const paths: string[] = [];
    await this.#walk(folder, async (_, names, prefix) => {
      assertWanted();
      paths.push(...names.map((name) => prefix + name));
    });
    return paths.sort();
  }

  async listEntries(folder: Folder): Promise<FileEntry[]> {
    const entries: FileEntry[] = [];
    await this.#walk(folder, async (opened, names, prefix) => {
      for (const [index, status] of (await statusesIn(opened, names)).entries()) {
        if (status?.isFile()) {
          entries.push({ path: `${prefix}${names[index]}`, etag: etagOf(status) });
        }
      }
    });
    return entries.sort((left, right) => (left.path < right.path ? -1 : 1));
  }

  search(folder: Folder, pattern: string, limits: Omit<FileSearchLimits, "makeError">): Promise<FileMatch[]> {
    const end = performance.now() + limits.timeoutMs;
    // Listing and reading end in time as well, and not only looking through what was read.
    const assertWanted = () => {
      limits.signal?.throwIfAborted();
      if (performance.now() > end) {
        throw storeError("timeout", `search: not done within ${limits.timeoutMs} ms`);
      }
    };
    return searchFiles(this.#texts(folder, assertWanted), pattern, { ...limits, makeError: storeError });
  }

  /** The texts of all files below a directory, in the order of their paths. Files that are no text are left out. */
  async *#texts(folder: Folder, assertWanted: () => void): AsyncGenerator<SearchedFile> {
    const paths = await this.list(folder, assertWanted);
    for (const { prefix, names } of runsOf(paths)) {
      const opened = await this.#directories.find([...folder.owner, ...prefix.split("/").slice(0, -1)]);
      if (opened === undefined) {
        continue;
      }
      try {
        yield* this.#textsIn(opened, prefix, names, assertWanted);
      } finally {
        await opened.close();
      }
    }
  }

  /** The next files are on their way while the ones before are looked through. */
  async *#textsIn(
    directory: OpenDirectory,
    prefix: string,
    names: readonly string[],
    assertWanted: () => void,
  ): AsyncGenerator<SearchedFile> {
    const read = (start: number) => {
      const some = names.slice(start, start + AT_ONCE);
      const texts = Promise.all(some.map(async (name) => ({ name, text: await this.#textIn(directory, name) })));
      // What fails is told when it is waited for, and not before.
      texts.catch(() => undefined);
      return texts;
    };
    let next = read(0);
    try {
      for (let start = 0; start < names.length; start += AT_ONCE) {
        assertWanted();
        const texts = await next;
        next = read(start + AT_ONCE);
        for (const { name, text } of texts) {
          if (text !== undefined) {
            yield { path: prefix + name, text };
          }
        }
      }
    } finally {
      await next.catch(() => undefined);
    }
  }

  /** A file that cannot be read as text has no lines that match; one that the disk refuses ends the search. */
  async #textIn(directory: OpenDirectory, name: string): Promise<string | undefined> {
    try {
      return (await this.#readIn(directory, name))?.text;
    } catch (error) {
      const code = systemCode(error);
      if (code !== undefined && !SKIPPED.includes(code)) {
        throw error;
      }
      report(this.#settings.onDiagnostic, {
        type: "file_skipped",
        provider: PROVIDER,
        message: "a file was not searched: it is a link, no UTF-8 text or too large",
        cause: error,
      });
      return undefined;
    }
  }

  async #readIn(directory: OpenDirectory, name: string): Promise<ReadFile | undefined> {
    const descriptor = await unless(["ENOENT"], open(directory.at(name), READ_ONLY));
    if (descriptor === undefined) {
      return undefined;
    }
    try {
      const status = fstatNow(descriptor);
      if (status.isDirectory()) {
        return undefined;
      }
      assertPlainFile(status, name);
      await directory.verify();
      if (status.size > BigInt(this.#settings.maxFileBytes)) {
        throw storeError("too_large", `the file is above the limit of ${this.#settings.maxFileBytes} bytes`);
      }
      return { text: textOf(await readAll(descriptor, Number(status.size))), etag: etagOf(status) };
    } finally {
      closeRead(descriptor);
    }
  }

  /** Calls `visit` for each directory from here down, with the names of its files and what stands before them in a path. */
  async #walk({ owner, segments }: Folder, visit: Visit): Promise<void> {
    const prefix = segments.map((segment) => `${segment}/`).join("");
    await this.#directories.within([...owner, ...segments], (start) =>
      this.#walkIn(start, prefix, owner.length === 0, visit),
    );
  }

  async #walkIn(directory: OpenDirectory, prefix: string, isUnowned: boolean, visit: Visit): Promise<void> {
    const all = await readdir(directory.at(""), { withFileTypes: true });
    const entries = all.filter(({ name }) => isFileName(name) && !(isUnowned && prefix === "" && isReserved(name)));
    await visit(
      directory,
      entries.filter((entry) => entry.isFile()).map(({ name }) => name),
      prefix,
    );
    for (const entry of entries) {
      // A link is not a directory here, also one that leads to one.
      const below = entry.isDirectory() ? await directory.enter(entry.name) : undefined;
      if (below !== undefined) {
        await using(below, () => this.#walkIn(below, `${prefix}${entry.name}/`, isUnowned, visit));
      }
    }
  }
}

type Visit = (directory: OpenDirectory, names: readonly string[], prefix: string) => Promise<void>;

/** A hard link is another name of a file that may well be outside; the store's own writes never make one. */
function assertPlainFile(status: BigIntStats, name: string): void {
  if (!status.isFile() || status.nlink > 1n) {
    throw refusedError(name);
  }
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw storeError("corrupt", "the file is not UTF-8 text", { cause });
  }
}

/** Neighbors in the same directory together, so that it is opened once for them. */
function runsOf(paths: readonly string[]): { readonly prefix: string; readonly names: string[] }[] {
  const runs: { prefix: string; names: string[] }[] = [];
  for (const path of paths) {
    const cut = path.lastIndexOf("/") + 1;
    const prefix = path.slice(0, cut);
    if (runs.at(-1)?.prefix !== prefix) {
      runs.push({ prefix, names: [] });
    }
    runs.at(-1)?.names.push(path.slice(cut));
  }
  return runs;
}
