import type { BigIntStats } from "node:fs";
import { readdir } from "node:fs/promises";
import { type CallProgress, FileProblem, foldFileName, systemCode } from "@agentfw/core/backend";
import type { Directories } from "./directories.ts";
import { refusedError, storeError } from "./errors.ts";
import { lstat, unlink } from "./file-calls.ts";
import { type HeldLock, Locks } from "./locks.ts";
import { isReserved } from "./names.ts";
import { makeIn, type OpenDirectory, removeIn, using } from "./open-directory.ts";
import type { Settings } from "./options.ts";
import { assertRoom } from "./quota.ts";
import { etagOf } from "./stamps.ts";
import { StoreDirectory } from "./store-directory.ts";
import { UnderWay } from "./under-way.ts";
import { UnfinishedFile } from "./unfinished-file.ts";

/** So often a directory may be removed under a writer that makes it. */
const MOST_ATTEMPTS = 20;

/** Where a file is: the segments of its directory, those of its owner included, and its name. */
export interface Place {
  readonly directory: readonly string[];
  readonly name: string;
}

/** What a write depends on. */
export interface Conditions {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/** Everything that changes files, each change with its directory for itself among all processes. */
export class Writing {
  readonly #settings: Settings;
  readonly #directories: Directories;
  readonly #locks: Locks;
  readonly #underWay = new UnderWay();
  readonly #storeDirectory: StoreDirectory;

  constructor(settings: Settings, directories: Directories) {
    this.#settings = settings;
    this.#directories = directories;
    this.#locks = new Locks(settings.onDiagnostic);
    this.#storeDirectory = new StoreDirectory(directories, this.#locks);
  }

  /** Writes a whole file under its conditions. */
  write(place: Place, bytes: Buffer, conditions: Conditions, progress: CallProgress): Promise<{ etag: string }> {
    return this.#underWay.track(this.#write(place, bytes, conditions, progress));
  }

  /** Deletes a file; directories that are empty then go with it. */
  async delete(place: Place, progress: CallProgress): Promise<boolean> {
    const deleting = this.#directories.within(place.directory, async (directory) =>
      (await this.#directories.fileIn(directory, place.name)) === undefined
        ? false
        : using(await this.#storeDirectory.open(), (store) =>
            this.#locks.hold(store, place.directory, progress, (lock) =>
              this.#remove(directory, place, lock, progress),
            ),
          ),
    );
    return (await this.#underWay.track(deleting)) ?? false;
  }

  /** Resolves when everything under way has ended. */
  close(): Promise<void> {
    return this.#underWay.settled();
  }

  async #write(place: Place, bytes: Buffer, conditions: Conditions, progress: CallProgress): Promise<{ etag: string }> {
    return using(await this.#storeDirectory.open(), async (store) => {
      await this.#assertLikely(place, conditions);
      // The long part, content on its way to the disk, is done before anyone has to wait.
      const file = await UnfinishedFile.write(store, bytes, this.#settings.fsync);
      try {
        return await this.#inDirectory(place, store, progress, (directory, lock) =>
          this.#put(file, bytes.length, { place, directory, lock, progress, conditions }),
        );
      } finally {
        await file.close();
      }
    });
  }

  /** Refuses what would be refused later anyhow, before any content is written. What counts is looked at under the lock. */
  async #assertLikely({ directory, name }: Place, conditions: Conditions): Promise<void> {
    if (conditions.ifMatch === undefined && conditions.ifNoneMatch === undefined) {
      return;
    }
    const status = await this.#directories.within(directory, (found) => lstat(found.at(name)));
    if (status?.isFile()) {
      assertConditions(conditions, etagOf(status));
    }
  }

  async #put(file: UnfinishedFile, size: number, call: PutCall): Promise<{ etag: string }> {
    const { place, directory, lock, progress, conditions } = call;
    const { files, existing } = await lookUp(directory, place.name);
    if (existing?.isDirectory()) {
      throw storeError("conflict", "a directory has the name of the file");
    }
    if (existing !== undefined && !existing.isFile()) {
      throw refusedError(place.name);
    }
    assertConditions(conditions, existing && etagOf(existing));
    await assertRoom(
      directory,
      files,
      { name: place.name, size, previous: existing && Number(existing.size) },
      this.#settings,
    );
    const etag = await file.stamp(existing?.mtimeNs);
    lock.beforeChange();
    await file.moveTo(directory, place.name);
    progress.afterChange();
    return { etag };
  }

  async #remove(directory: OpenDirectory, place: Place, lock: HeldLock, progress: CallProgress): Promise<boolean> {
    if ((await this.#directories.fileIn(directory, place.name)) === undefined) {
      return false;
    }
    lock.beforeChange();
    if (!(await unlink(directory.at(place.name)))) {
      return false;
    }
    await directory.verify();
    progress.afterChange();
    if (this.#settings.fsync) {
      await directory.sync();
    }
    await this.#prune(place.directory);
    return true;
  }

  /** Removes directories that are empty, from the innermost on. A writer that needs one of them makes it again. */
  async #prune(segments: readonly string[]): Promise<void> {
    for (const [depth, name] of [...segments.entries()].reverse()) {
      if (!(await this.#directories.within(segments.slice(0, depth), (parent) => removeIn(parent, name)))) {
        return;
      }
    }
  }

  /** Runs `work` in the directory of a file, made if it is missing, with its lock. */
  async #inDirectory<T>(
    place: Place,
    store: OpenDirectory,
    progress: CallProgress,
    work: (directory: OpenDirectory, lock: HeldLock) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await using(await this.#ensure(place.directory, store, progress), async (directory) => {
          const result = await this.#locks.hold(store, place.directory, progress, (lock) => work(directory, lock));
          if (this.#settings.fsync) {
            await directory.sync();
          }
          return result;
        });
      } catch (error) {
        // The directory was empty, and a delete removed it meanwhile.
        if (systemCode(error) !== "ENOENT" || attempt === MOST_ATTEMPTS || progress.isDone) {
          throw error;
        }
        progress.assertWanted();
      }
    }
  }

  async #ensure(segments: readonly string[], store: OpenDirectory, progress: CallProgress): Promise<OpenDirectory> {
    let directory = await this.#directories.rootForWriting();
    for (const [depth, name] of segments.entries()) {
      directory = await using(directory, async (parent) => {
        const existing = (await this.#directories.isSpelled(parent, name)) ? await parent.enter(name) : undefined;
        const make = () => this.#makeDirectory(parent, name);
        return existing ?? this.#locks.hold(store, segments.slice(0, depth), progress, make);
      });
    }
    return directory;
  }

  async #makeDirectory(parent: OpenDirectory, name: string): Promise<OpenDirectory> {
    await lookUp(parent, name);
    await parent.verify();
    if ((await makeIn(parent, name)) && this.#settings.fsync) {
      await parent.sync();
    }
    // Looked at afterwards: a delete may have removed it meanwhile, but whoever makes it again needs the lock.
    const { existing } = await lookUp(parent, name);
    const made = await parent.enter(name);
    if (made !== undefined) {
      return made;
    }
    throw existing?.isFile()
      ? storeError("conflict", "a file has the name of a directory")
      : new FileProblem("ENOENT", "the directory was removed again");
  }
}

interface PutCall {
  readonly place: Place;
  readonly directory: OpenDirectory;
  readonly lock: HeldLock;
  readonly progress: CallProgress;
  readonly conditions: Conditions;
}

/**
 * The files of a directory, and what has the name among all that is in it.
 *
 * @throws `conflict` for a name that the file system takes for another one, or that another file system would.
 */
async function lookUp(
  directory: OpenDirectory,
  name: string,
): Promise<{ files: string[]; existing: BigIntStats | undefined }> {
  const entries = await readdir(directory.at(""), { withFileTypes: true });
  const existing = await lstat(directory.at(name));
  const folded = foldFileName(name);
  const isTwin = (other: string) => foldFileName(other) === folded && !isReserved(other);
  // What is found under a name that is not listed has another one: file systems take more for one name than we know.
  const isListed = entries.some((entry) => entry.name === name);
  if (entries.some((entry) => entry.name !== name && isTwin(entry.name)) || (existing !== undefined && !isListed)) {
    throw storeError("conflict", "a name that differs only in case or Unicode form exists");
  }
  return { files: entries.filter((entry) => entry.isFile()).map((entry) => entry.name), existing };
}

function assertConditions({ ifMatch, ifNoneMatch }: Conditions, current: string | undefined): void {
  if (ifNoneMatch !== undefined && current !== undefined) {
    throw storeError("conflict", "the file exists", { currentVersion: current });
  }
  if (ifMatch !== undefined && ifMatch !== current) {
    throw storeError("conflict", "the etag does not match", { currentVersion: current });
  }
}
