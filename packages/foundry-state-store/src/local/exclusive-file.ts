import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type CallLimits, fileFailure, KeyedQueue, systemCode } from "@agentfw/core/backend";
import { lock } from "proper-lockfile";
import { PROVIDER, stateError } from "../errors.ts";
import { lockFileSystem } from "../lock-file-system.ts";
import { type Progress, runWithProgress } from "../progress.ts";
import { syncDirectory } from "../sync-directory.ts";

/** A lock that is not renewed for so long is taken to be a dead process's. */
const STALE_MS = 3_000;

/** A holder that stood still for so long does not go on, because another may have taken the lock from it. */
const LONGEST_STILL_MS = STALE_MS / 2;

const BEAT_MS = STALE_MS / 12;

/** What a process that died has left is removed when it is so old. */
const LEFT_OVER_MS = 60_000;

const LONGEST_PAUSE_MS = 20;

/** The right to change a file. */
export interface FileAccess {
  /** Puts a text in place of the file, in one step, and on the disk. */
  replace(text: string): Promise<void>;
  /** Removes the file. */
  remove(): Promise<void>;
}

/** The changes of one process come one after another. */
const changes = new KeyedQueue();

/**
 * Changes a file as the only one: among the calls of this process in their order, then among processes. Settles within
 * the deadline: until the file is touched as `timeout` or with the abort, and nothing was written; from then on as
 * `outcome_unknown`.
 */
export async function changeFile<T>(
  operation: string,
  path: string,
  limits: CallLimits,
  work: (access: FileAccess) => Promise<T>,
): Promise<T> {
  try {
    return await runWithProgress(operation, { kind: "write", provider: PROVIDER, ...limits }, (progress) =>
      changes.run(path, () => locked(path, progress, work)),
    );
  } catch (error) {
    throw fileError(error, operation);
  }
}

/** What a file system's error means to a caller; any other error as it is. */
export function fileError(error: unknown, operation: string): unknown {
  const failure = fileFailure(error);
  return failure === undefined ? error : stateError(failure.code, `${operation}: ${failure.reason}`, { cause: error });
}

async function locked<T>(path: string, progress: Progress, work: (access: FileAccess) => Promise<T>): Promise<T> {
  const held = await acquire(path, progress);
  const beforeChange = () => {
    progress.assertWanted();
    if (!held.isSure) {
      throw stateError("unavailable", "this process stood still too long to be sure of its lock");
    }
    progress.hasChanged = true;
  };
  try {
    return await work({
      replace: (text) => replaceFile(path, text, beforeChange),
      remove: async () => {
        beforeChange();
        await unlink(path);
        await syncDirectory(dirname(path));
      },
    });
  } finally {
    await held.release();
  }
}

/** Changes come one after another in a process, so a lock that is taken is another process's. */
async function acquire(path: string, progress: Progress): Promise<Held> {
  for (let attempt = 0; ; attempt += 1) {
    progress.assertWanted();
    try {
      return await Held.take(path);
    } catch (error) {
      if (systemCode(error) === "ENOENT") {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      } else if (systemCode(error) !== "ELOCKED") {
        throw error;
      }
    }
    await pause(1 + Math.random() * Math.min(2 ** attempt, LONGEST_PAUSE_MS));
  }
}

class Held {
  readonly #release: () => Promise<void>;
  readonly #beat: NodeJS.Timeout;
  #lastBeat = performance.now();
  #isLost = false;

  private constructor(release: () => Promise<void>) {
    this.#release = release;
    // Notices that the process stood still: then the lock was not renewed either.
    this.#beat = setInterval(() => this.#live(), BEAT_MS).unref();
  }

  static async take(path: string): Promise<Held> {
    let held: Held | undefined;
    const release = await lock(path, {
      realpath: false,
      fs: lockFileSystem({
        staleMs: STALE_MS,
        isHeld: () => held !== undefined,
        isSure: () => held?.isSure === true,
      }),
      stale: STALE_MS,
      update: STALE_MS / 3,
      onCompromised: () => {
        if (held !== undefined) {
          held.#isLost = true;
        }
      },
    });
    held = new Held(release);
    return held;
  }

  /** True while nobody can have taken the lock away. */
  get isSure(): boolean {
    this.#live();
    return !this.#isLost;
  }

  async release(): Promise<void> {
    clearInterval(this.#beat);
    // A lock that may have been taken away is not this one's to give up.
    await this.#release().catch(() => undefined);
  }

  #live(): void {
    const now = performance.now();
    this.#isLost ||= now - this.#lastBeat > LONGEST_STILL_MS;
    this.#lastBeat = now;
  }
}

/** A crash leaves the old file or the new one, and at most a temporary file beside it. */
async function replaceFile(path: string, text: string, beforeChange: () => void): Promise<void> {
  // Whoever lost its lock may still be writing: nobody else writes to this one.
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
    beforeChange();
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Removes the temporary files that writers who died have left. */
export async function tidyUp(path: string): Promise<void> {
  const directory = dirname(path);
  try {
    const names = (await readdir(directory)).filter((name) => name.startsWith(basename(path)) && name.endsWith(".tmp"));
    for (const name of names) {
      const left = join(directory, name);
      if (Date.now() - (await stat(left)).mtimeMs > LEFT_OVER_MS) {
        await unlink(left);
      }
    }
  } catch {
    // Tidying up is no reason to fail; whoever opens the store next tries again.
  }
}
