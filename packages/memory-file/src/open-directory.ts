import fs, { type BigIntStats } from "node:fs";
import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import { FileProblem, systemCode } from "@agentfw/core/backend";
import { inBatches } from "./batches.ts";
import { refusedError } from "./errors.ts";
import { close, closeRead, DIRECTORY, lstat, makeDirectory, open, openRoot, stat, sync, unless } from "./file-calls.ts";

/** A directory of the store, reached without following a link. Close it. */
export interface OpenDirectory {
  /** The path under which system calls reach an entry of exactly this directory; `""` is the directory itself. */
  at(name: string): string;
  /** The directory of this name in it, or undefined when there is none. @throws what {@link refusedError} gives for a link. */
  enter(name: string): Promise<OpenDirectory | undefined>;
  /** Where the kernel says that it is, byte for byte; undefined where it does not say. */
  readonly location: string | undefined;
  /**
   * Call after a change.
   *
   * @throws ELOOP when a link was put in the place of a directory on the way. Never where directories are held open.
   */
  verify(): Promise<void>;
  /** Names in it reach the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Looks at so many entries at once. */
const AT_ONCE = 16;

/** Where the kernel shows the opened files of a process as paths. */
const DESCRIPTORS = "/proc/self/fd";

/** Opens the root, which may be a link. @throws the system's error, ENOENT included. */
export async function openRootDirectory(root: string): Promise<OpenDirectory> {
  if (fs.existsSync(DESCRIPTORS)) {
    return new HeldDirectory(await openRoot(root));
  }
  const status = await stat(root);
  if (!status.isDirectory()) {
    throw new FileProblem("ENOTDIR", "the root is not a directory");
  }
  return new NamedDirectory(root, []);
}

/**
 * A directory that is held open. Every call goes through the descriptor, so it stays in this very directory, whatever is
 * renamed or replaced on the way to it meanwhile: there is no time between check and use.
 */
class HeldDirectory implements OpenDirectory {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  at(name: string): string {
    return `${DESCRIPTORS}/${this.#descriptor}/${name}`;
  }

  async enter(name: string): Promise<OpenDirectory | undefined> {
    try {
      return new HeldDirectory(await open(this.at(name), DIRECTORY));
    } catch (error) {
      return notEntered(this, name, error);
    }
  }

  async verify(): Promise<void> {
    // It is held: what its path leads to now is of no importance.
  }

  sync(): Promise<void> {
    return sync(this.#descriptor);
  }

  async close(): Promise<void> {
    closeRead(this.#descriptor);
  }

  get location(): string {
    // Answered from the kernel's memory.
    return fs.readlinkSync(`${DESCRIPTORS}/${this.#descriptor}`, { encoding: "latin1" });
  }
}

/** A component of a path and what it was when it was looked at. */
interface Component {
  readonly path: string;
  readonly identity: string;
}

/**
 * A directory by its path, for systems that offer no path through a descriptor. Its components are looked at before each
 * use and after each change; between the two a link can be put in their place.
 */
class NamedDirectory implements OpenDirectory {
  readonly location: undefined;
  readonly #path: string;
  readonly #components: readonly Component[];

  constructor(path: string, components: readonly Component[]) {
    this.#path = path;
    this.#components = components;
  }

  at(name: string): string {
    return name === "" ? this.#path : join(this.#path, name);
  }

  async enter(name: string): Promise<OpenDirectory | undefined> {
    const path = this.at(name);
    const status = await unless(["ENOTDIR"], lstat(path));
    if (status === undefined) {
      return undefined;
    }
    if (!status.isDirectory()) {
      return notEntered(this, name, new FileProblem("ENOTDIR", "not a directory"));
    }
    await this.verify();
    return new NamedDirectory(path, [...this.#components, { path, identity: `${status.dev}:${status.ino}` }]);
  }

  async verify(): Promise<void> {
    for (const { path, identity } of this.#components) {
      const status = await lstat(path);
      if (status === undefined) {
        throw new FileProblem("ENOENT", "a directory was removed");
      }
      if (!status.isDirectory() || `${status.dev}:${status.ino}` !== identity) {
        throw refusedError("a directory was replaced");
      }
    }
  }

  async sync(): Promise<void> {
    // Windows cannot open a directory, and keeps names safe by itself.
    if (process.platform !== "win32") {
      const descriptor = await open(this.#path, DIRECTORY);
      try {
        await sync(descriptor);
      } finally {
        await close(descriptor);
      }
    }
  }

  async close(): Promise<void> {
    // Nothing is held.
  }
}

/**
 * The directory of this path, in one step, if it is at this location. Links on the way are followed, and then the kernel
 * tells where the directory really is. Undefined says nothing: enter its segments one by one.
 */
export async function leapTo(path: string, location: string): Promise<OpenDirectory | undefined> {
  const descriptor = await unless(["ENOENT", "ENOTDIR", "ELOOP"], open(path, DIRECTORY));
  if (descriptor === undefined) {
    return undefined;
  }
  const directory = new HeldDirectory(descriptor);
  if (directory.location === location) {
    return directory;
  }
  await directory.close();
  return undefined;
}

/** There is no such directory, a file has its name, or it is a link, which the system reports as "not a directory" too. */
async function notEntered(parent: OpenDirectory, name: string, error: unknown): Promise<undefined> {
  const code = systemCode(error);
  if (code === "ENOENT") {
    return undefined;
  }
  if (code === "ENOTDIR") {
    const status = await lstat(parent.at(name));
    if (status === undefined || status.isFile()) {
      return undefined;
    }
    throw refusedError(name);
  }
  throw error;
}

/** What these entries of a directory are, in their order; undefined for one that is gone. */
export function statusesIn(directory: OpenDirectory, names: readonly string[]): Promise<(BigIntStats | undefined)[]> {
  return inBatches(names, AT_ONCE, (name) => lstat(directory.at(name)));
}

/** Makes one directory in another. False when the name is taken. */
export async function makeIn(parent: OpenDirectory, name: string): Promise<boolean> {
  const isMade = await unless(
    ["EEXIST"],
    makeDirectory(parent.at(name)).then(() => true),
  );
  return isMade === true;
}

/** Removes an empty directory from another. False when it is not empty or not there. */
export async function removeIn(parent: OpenDirectory, name: string): Promise<boolean> {
  try {
    await rmdir(parent.at(name));
    return true;
  } catch {
    // Tidying up is no reason to fail a delete.
    return false;
  }
}

/** Runs `work` on a directory and closes it, whatever comes of it. */
export async function using<T>(directory: OpenDirectory, work: (directory: OpenDirectory) => Promise<T>): Promise<T> {
  try {
    return await work(directory);
  } finally {
    await directory.close();
  }
}
