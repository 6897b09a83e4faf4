import { join } from "node:path";
import type { Directories } from "./directories.ts";
import { appendOnce, CREATE_NEW, close, lstat, open, readDirectory, systemCode, unless, unlink } from "./file-calls.ts";
import { WRITERS_DIRECTORY } from "./file-names.ts";
import { livenessOf, newIdentity, randomPart } from "./writer-identity.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A writer and the file that its locks are hard links to. */
export interface Writer {
  /** The name of the file and its content. */
  readonly identity: string;
  readonly random: string;
  readonly path: string;
}

/** The file of one store in `_writers`, made before its first write and removed by `close`. */
export class WriterFile {
  readonly #directories: Directories;
  #writer: Promise<Writer> | undefined;

  constructor(directories: Directories) {
    this.#directories = directories;
  }

  /** This store's writer; makes its file at the first call. A failure is not remembered. */
  get(): Promise<Writer> {
    this.#writer ??= this.#make().catch((error: unknown) => {
      this.#writer = undefined;
      throw error;
    });
    return this.#writer;
  }

  /** Makes the file again if someone removed it. */
  async restore(): Promise<void> {
    const writer = await this.get();
    if ((await unless(["ENOENT"], lstat(writer.path))) === undefined) {
      await this.#write(writer);
    }
  }

  /** Removes the file; locks that are links to it stay. */
  async remove(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    if (writer !== undefined) {
      await unless(["ENOENT", "ENOTDIR"], unlink((await writer).path));
    }
  }

  async #make(): Promise<Writer> {
    const identity = await newIdentity();
    const path = join(this.#directories.root, WRITERS_DIRECTORY, identity);
    const writer = { identity, random: randomPart(identity) ?? "", path };
    await this.#write(writer);
    await this.#sweep(writer);
    return writer;
  }

  async #write({ identity, path }: Writer): Promise<void> {
    await this.#directories.ensure(WRITERS_DIRECTORY);
    try {
      const descriptor = await open(path, CREATE_NEW);
      try {
        await appendOnce(descriptor, Buffer.from(identity));
      } finally {
        await close(descriptor);
      }
    } catch (error) {
      if (systemCode(error) !== "EEXIST") {
        throw error;
      }
    }
  }

  /**
   * Removes what dead writers left. A file that is removed by mistake costs nothing: its writer makes it again, and
   * locks are links of their own.
   */
  async #sweep(own: Writer): Promise<void> {
    const directory = join(this.#directories.root, WRITERS_DIRECTORY);
    try {
      for (const { name } of await readDirectory(directory)) {
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

async function isLeftOver(identity: string, path: string): Promise<boolean> {
  const liveness = await livenessOf(identity);
  if (liveness !== "unknown") {
    return liveness === "dead";
  }
  return Date.now() - Number((await lstat(path)).mtimeMs) > DAY_MS;
}
