import { CREATE_NEW, close, open, rename, syncData, unlink, writeAll } from "./file-calls.ts";
import type { OpenDirectory } from "./open-directory.ts";
import { etagOf, stampAfter } from "./stamps.ts";
import { newIdentity } from "./writer-identity.ts";

/**
 * A file that is written under a name of its own and moved to its place when it is whole. The name is random and is made
 * new, never opened, so nobody can put something under it before.
 */
export class UnfinishedFile {
  readonly #store: OpenDirectory;
  readonly #name: string;
  readonly #descriptor: number;
  #isMoved = false;

  private constructor(store: OpenDirectory, name: string, descriptor: number) {
    this.#store = store;
    this.#name = name;
    this.#descriptor = descriptor;
  }

  static async write(store: OpenDirectory, bytes: Buffer, fsync: boolean): Promise<UnfinishedFile> {
    const name = `${await newIdentity()}.tmp`;
    const file = new UnfinishedFile(store, name, await open(store.at(name), CREATE_NEW));
    try {
      await writeAll(file.#descriptor, bytes);
      if (fsync) {
        await syncData(file.#descriptor);
      }
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Gives the file a time that is later than that of the file in its place. Resolves to the etag that it has from then on. */
  async stamp(previous: bigint | undefined): Promise<string> {
    return etagOf(await stampAfter(this.#descriptor, previous));
  }

  /** Moves the file to its place, over what is there, in one step. */
  async moveTo(directory: OpenDirectory, name: string): Promise<void> {
    await directory.verify();
    await rename(this.#store.at(this.#name), directory.at(name));
    this.#isMoved = true;
    await directory.verify();
  }

  /** Releases the file, and removes it unless it was moved. */
  async close(): Promise<void> {
    await close(this.#descriptor);
    if (!this.#isMoved) {
      await unlink(this.#store.at(this.#name));
    }
  }
}
