import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Directories } from "./directories.ts";
import { lstat, unless, unlink } from "./file-calls.ts";
import { WRITERS_DIRECTORY } from "./file-names.ts";
import { livenessOf, newIdentity, randomPart } from "./writer-identity.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A writer and the file that its locks are hard links to. */
export interface Writer {
  /** The name of the file and its content. */
  readonly identity: string;
  readonly path: string;
}

/** One for each root, so that stores which nobody closes do not leave a file each. */
const writerFiles = new Map<string, WriterFile>();

/** The file of this process in `_writers`, made before its first write and removed when its last store is closed. */
export class WriterFile {
  readonly #root: string;
  #users = 0;
  #writer: Promise<Writer> | undefined;

  private constructor(root: string) {
    this.#root = root;
  }

  /** The one of this process for a root. Call {@link leave} when it is not needed any more. */
  static enter(root: string): WriterFile {
    const file = writerFiles.get(root) ?? new WriterFile(root);
    writerFiles.set(root, file);
    file.#users += 1;
    return file;
  }

  /** The writer; makes its file at the first call. A failure is not remembered. */
  get(directories: Directories): Promise<Writer> {
    this.#writer ??= this.#make(directories).catch((error: unknown) => {
      this.#writer = undefined;
      throw error;
    });
    return this.#writer;
  }

  /** Makes the file again if someone removed it. */
  async restore(directories: Directories): Promise<void> {
    await write(await this.get(directories), directories);
  }

  /** Removes the file when nobody else of the process uses it; locks that are links to it stay. */
  async leave(): Promise<void> {
    this.#users -= 1;
    if (this.#users === 0) {
      writerFiles.delete(this.#root);
      if (this.#writer !== undefined) {
        await unless(["ENOTDIR"], unlink((await this.#writer).path));
      }
    }
  }

  async #make(directories: Directories): Promise<Writer> {
    const identity = await newIdentity();
    const writer = { identity, path: join(this.#root, WRITERS_DIRECTORY, identity) };
    await write(writer, directories);
    await this.#sweep(writer);
    return writer;
  }

  /**
   * Removes what dead writers left. A file that is removed by mistake costs nothing: its writer makes it again, and
   * locks are links of their own.
   */
  async #sweep(own: Writer): Promise<void> {
    const directory = join(this.#root, WRITERS_DIRECTORY);
    try {
      for (const name of await readdir(directory)) {
        const path = join(directory, name);
        if (name !== own.identity && randomPart(name) !== undefined && (await isLeftOver(name, path))) {
          await unlink(path);
        }
      }
    } catch {
      // Tidying up is no reason to fail a write; the next writer tries again.
    }
  }
}

async function write({ identity, path }: Writer, directories: Directories): Promise<void> {
  await directories.ensure(WRITERS_DIRECTORY);
  await unless(["EEXIST"], writeFile(path, identity, { flag: "wx", mode: 0o600 }));
}

async function isLeftOver(identity: string, path: string): Promise<boolean> {
  const liveness = await livenessOf(identity);
  if (liveness !== "unknown") {
    return liveness === "dead";
  }
  return Date.now() - Number((await lstat(path))?.mtimeMs) > DAY_MS;
}
