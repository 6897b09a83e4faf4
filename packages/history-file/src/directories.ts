import { mkdir, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FileProblem, systemCode } from "@agentfw/core/backend";
import { refusedError, storeError } from "./errors.ts";
import { lstat, stat, syncDirectory, unless } from "./file-calls.ts";
import type { ConversationPath } from "./file-names.ts";

/**
 * The directories of a store. The root may be a link, because whoever configures it may choose where it leads; below
 * it every component must be a plain directory.
 */
export class Directories {
  readonly root: string;
  readonly #fsync: boolean;
  /** A root that was there and is gone is an outage, not an empty store. */
  #seen = false;

  constructor(root: string, fsync: boolean) {
    this.root = root;
    this.#fsync = fsync;
  }

  /**
   * Tells "nothing is stored" from "nothing can be reached" after something was not found.
   *
   * @throws `unavailable` when the root was seen before and is gone; the system's error when it cannot be looked at.
   */
  async assertAbsenceIsReal(): Promise<void> {
    const status = await stat(this.root);
    if (status === undefined) {
      if (this.#seen) {
        throw storeError("unavailable", "the directory of the store is gone");
      }
    } else if (status.isDirectory()) {
      this.#seen = true;
    } else {
      throw new FileProblem("ENOTDIR", `not a directory: ${this.root}`);
    }
  }

  /** Something of the store was reached, so from now on a missing root is an outage. */
  noticed(): void {
    this.#seen = true;
  }

  /** Refuses links and files in place of the directories of a conversation; missing ones are fine. */
  async assertPlain([owner, source = ""]: readonly [owner: string, source?: string, file?: string]): Promise<void> {
    const directory = join(this.root, owner);
    await Promise.all([assertPlainDirectory(directory), assertPlainDirectory(join(directory, source))]);
  }

  /** Makes what is missing of the directories, 0700, one by one so that none is made behind a link. */
  async ensure(...below: readonly string[]): Promise<void> {
    await this.assertAbsenceIsReal();
    if (!this.#seen) {
      await this.#makeRoot(this.root);
      this.#seen = true;
    }
    let directory = this.root;
    for (const name of below) {
      const parent = directory;
      directory = join(parent, name);
      if (await make(directory)) {
        await this.sync(parent);
      } else {
        await assertPlainDirectory(directory);
      }
    }
  }

  /** With `fsync`: the names in the directory are safe afterwards. */
  async sync(directory: string): Promise<void> {
    if (this.#fsync) {
      await syncDirectory(directory);
    }
  }

  /** Removes the directories of a conversation that are empty. Nobody depends on it, so it never fails. */
  async prune([owner, source]: ConversationPath): Promise<void> {
    const directory = join(this.root, owner);
    try {
      await rmdir(join(directory, source));
      await rmdir(directory);
    } catch {
      // Another conversation is still in there, or someone else was faster.
    }
  }

  async #makeRoot(path: string): Promise<void> {
    try {
      await make(path);
    } catch (error) {
      if (systemCode(error) !== "ENOENT" || dirname(path) === path) {
        throw error;
      }
      await this.#makeRoot(dirname(path));
      await make(path);
    }
    await this.sync(dirname(path));
  }
}

/** False when the name is taken. */
async function make(path: string): Promise<boolean> {
  const isMade = await unless(
    ["EEXIST"],
    mkdir(path, 0o700).then(() => true),
  );
  return isMade === true;
}

async function assertPlainDirectory(path: string): Promise<void> {
  const status = await lstat(path);
  if (status?.isSymbolicLink()) {
    throw refusedError(path);
  }
  if (status !== undefined && !status.isDirectory()) {
    throw new FileProblem("ENOTDIR", `not a directory: ${path}`);
  }
}
