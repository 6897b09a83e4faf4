import type { BigIntStats } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "@agentfw/core/backend";
import { refusedError, storeError } from "./errors.ts";
import { lstat, makeDirectory, unless } from "./file-calls.ts";
import { STORE_DIRECTORY } from "./names.ts";
import { leapTo, type OpenDirectory, openRootDirectory, using } from "./open-directory.ts";

/** The directories of a store, from the root down, and what the file system below them is like. */
export class Directories {
  readonly #root: string;
  readonly #fsync: boolean;
  /** A root that was there and is gone is an outage, not an empty store. */
  #seen = false;
  /** Whether names that differ in case or Unicode form are different names there; unknown until it was tried. */
  #isExact: boolean | undefined;
  /** Where the root was when it was opened last. */
  #location: string | undefined;

  constructor(root: string, fsync: boolean) {
    this.#root = root;
    this.#fsync = fsync;
  }

  /** The root, or undefined when there never was one. @throws `unavailable` when it is gone. */
  async root(): Promise<OpenDirectory | undefined> {
    const root = await unless(["ENOENT"], openRootDirectory(this.#root));
    if (root !== undefined) {
      this.#seen = true;
      this.#location = root.location;
    } else if (this.#seen) {
      throw storeError("unavailable", "the directory of the store is gone");
    }
    return root;
  }

  /** The root, made with its parents when there never was one. */
  async rootForWriting(): Promise<OpenDirectory> {
    const root = await this.root();
    if (root !== undefined) {
      return root;
    }
    await this.#makeWithParents(this.#root);
    this.#seen = true;
    return openRootDirectory(this.#root);
  }

  /**
   * The directory of these segments, or undefined when a segment is missing, is a file, or is spelled differently.
   * Closes what it opened on the way.
   *
   * @throws ELOOP for a link on the way.
   */
  async find(segments: readonly string[]): Promise<OpenDirectory | undefined> {
    const near = await this.#leap(segments);
    if (near !== undefined) {
      return near;
    }
    let directory = await this.root();
    for (const segment of segments) {
      const parent = directory;
      if (parent === undefined) {
        return undefined;
      }
      directory = await using(parent, async () =>
        (await this.isSpelled(parent, segment)) ? parent.enter(segment) : undefined,
      );
    }
    return directory;
  }

  /** Runs `work` in the directory of these segments, and closes it; undefined when there is none. @throws as {@link find} */
  async within<T>(segments: readonly string[], work: (directory: OpenDirectory) => Promise<T>): Promise<T | undefined> {
    const directory = await this.find(segments);
    return directory && using(directory, work);
  }

  /** What a file in a directory is; undefined when there is none of this spelling. @throws ELOOP for a link, pipe or device. */
  async fileIn(directory: OpenDirectory, name: string): Promise<BigIntStats | undefined> {
    const status = await unless(["ENOTDIR"], lstat(directory.at(name)));
    if (status === undefined || status.isDirectory() || !(await this.isSpelled(directory, name))) {
      return undefined;
    }
    if (!status.isFile()) {
      throw refusedError(name);
    }
    return status;
  }

  /** The usual case: nothing on the way is a link or spelled differently, and the root is where it was. */
  async #leap(segments: readonly string[]): Promise<OpenDirectory | undefined> {
    if (this.#location === undefined || this.#isExact !== true || segments.length === 0) {
      return undefined;
    }
    const location = `${this.#location}/${Buffer.from(segments.join("/")).toString("latin1")}`;
    // What fails here fails again on the way step by step, which tells what it is.
    return leapTo(join(this.#root, ...segments), location).catch(() => undefined);
  }

  /** False when the file system would take the name for one that is spelled differently. */
  async isSpelled(parent: OpenDirectory, name: string): Promise<boolean> {
    this.#isExact ??= await this.#tryExactness();
    return this.#isExact === true || (await readdir(parent.at(""))).includes(name);
  }

  /**
   * A Linux file system tells either all spellings apart or none; the store's own directory shows which. Elsewhere some
   * tell case apart and Unicode forms not, so nothing is concluded.
   */
  async #tryExactness(): Promise<boolean | undefined> {
    if (process.platform !== "linux") {
      return false;
    }
    const root = await this.root();
    if (root === undefined) {
      return undefined;
    }
    return using(root, async () => {
      const status = await lstat(root.at(STORE_DIRECTORY));
      const other = await lstat(root.at(STORE_DIRECTORY.toUpperCase()));
      return status === undefined ? undefined : other?.ino !== status.ino;
    });
  }

  /** Not Node's own, which never ends where a file system refuses a directory as if its parent were missing. */
  async #makeWithParents(path: string): Promise<void> {
    const make = () => unless(["EEXIST"], makeDirectory(path));
    try {
      await make();
    } catch (error) {
      if (systemCode(error) !== "ENOENT" || dirname(path) === path) {
        throw error;
      }
      await this.#makeWithParents(dirname(path));
      await make();
    }
    if (this.#fsync) {
      // Also where somebody else has just made it: what is stored in it must not be lost with its name.
      const parent = await openRootDirectory(dirname(path));
      await using(parent, () => parent.sync());
    }
  }
}
