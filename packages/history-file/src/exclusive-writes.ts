import { KeyedQueue } from "@agentfw/core/backend";
import type { Progress } from "./calls.ts";
import type { Directories } from "./directories.ts";
import { type HeldLock, WriterLocks } from "./lock.ts";
import type { OpenFiles, Place } from "./open-files.ts";
import type { Settings } from "./options.ts";

/** What a write may do while it has the conversation for itself. */
export interface WriteAccess {
  readonly temporaryFile: string;
  /** Call right before each change; throws when the call was given up or the lock is not certain any more. */
  readonly beforeChange: () => void;
  /** Call between the steps of long work that changes nothing yet: keeps the lock, and throws when the call was given up. */
  readonly renew: () => Promise<void>;
}

/** One write of one conversation. */
export interface Write<T> {
  readonly place: Place;
  readonly progress: Progress;
  work(access: WriteAccess): Promise<T>;
  /** Runs when the conversation is free again. */
  afterwards?(): Promise<void>;
}

/**
 * Gives a conversation to one write at a time: first among the calls of this process, in their order, then among
 * processes.
 */
export class ExclusiveWrites {
  readonly #directories: Directories;
  readonly #files: OpenFiles;
  readonly #locks: WriterLocks;
  readonly #queue = new KeyedQueue();

  constructor(settings: Settings, directories: Directories, files: OpenFiles) {
    this.#directories = directories;
    this.#files = files;
    this.#locks = new WriterLocks(directories, settings.onDiagnostic);
  }

  run<T>(write: Write<T>): Promise<T> {
    return this.#queue.run(write.place.file, () => this.#locked(write));
  }

  /** Resolves when all writes have ended, and gives up this writer's name. */
  async close(): Promise<void> {
    await this.#queue.settled();
    await this.#locks.close();
  }

  async #locked<T>(write: Write<T>): Promise<T> {
    const { place, progress } = write;
    progress.assertWanted();
    if (!this.#files.knows(place)) {
      // A lock behind a link would be made outside of the store.
      await this.#directories.assertPlain(place.path);
    }
    const { owner, source } = place.path;
    const lock = await this.#locks.acquire(
      place.file,
      () => this.#directories.ensure(owner, source),
      () => progress.assertWanted(),
    );
    try {
      return await write.work(accessOf(lock, progress));
    } finally {
      await lock.release();
      await write.afterwards?.();
    }
  }
}

function accessOf(lock: HeldLock, progress: Progress): WriteAccess {
  return {
    temporaryFile: lock.temporaryFile,
    beforeChange() {
      progress.assertWanted();
      lock.assertFresh();
      progress.hasChanged = true;
    },
    async renew() {
      progress.assertWanted();
      await lock.renew();
    },
  };
}
