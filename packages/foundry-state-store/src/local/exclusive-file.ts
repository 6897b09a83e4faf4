import { type FileHandle, mkdir, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isAgentFrameworkError, withDeadline } from "@agentfw/core";
import { lock } from "proper-lockfile";
import { PROVIDER, stateError, systemCode } from "../errors.ts";
import { KeyedQueue } from "../keyed-queue.ts";

/** A lock that is not renewed for so long is taken to be a dead process's. */
const STALE_MS = 3_000;

/** A holder that was busy for so long does not go on, because another may have taken the lock from it. */
const FRESH_MS = STALE_MS / 2;

const LONGEST_PAUSE_MS = 20;

/** The right to change a file. */
export interface FileAccess {
  /** Puts a text in place of the file, in one step, and on the disk. */
  replace(text: string): Promise<void>;
  /** Removes the file. */
  remove(): Promise<void>;
}

/** A change of a file. */
export interface FileChange<T> {
  readonly operation: string;
  readonly path: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  work(access: FileAccess): Promise<T>;
}

/** The changes of one process come one after another. */
const changes = new KeyedQueue();

/**
 * Changes a file as the only one: among the calls of this process in their order, then among processes. Settles within
 * the deadline: until the file is touched as `timeout` or with the abort, and nothing was written; from then on as
 * `outcome_unknown`.
 */
export async function changeFile<T>(change: FileChange<T>): Promise<T> {
  const { operation, path, timeoutMs, signal } = change;
  const progress = { isGivenUp: false, hasChanged: false };
  try {
    return await withDeadline(operation, { kind: "write", provider: PROVIDER, timeoutMs, signal }, () =>
      changes.run(path, () => locked(change, progress)),
    );
  } catch (error) {
    progress.isGivenUp = true;
    if (isAgentFrameworkError(error, "outcome_unknown") && !progress.hasChanged) {
      throw error.cause ?? stateError("timeout", `${operation}: others had the store for ${timeoutMs} ms`);
    }
    throw fileError(error, operation);
  }
}

/** What a file system's error means to a caller. */
export function fileError(error: unknown, operation: string): unknown {
  const code = systemCode(error);
  if (isAgentFrameworkError(error) || code === undefined) {
    return error;
  }
  return code === "EACCES" || code === "EPERM"
    ? stateError("unauthorized", `${operation}: the folder may not be used`, { cause: error })
    : stateError("unavailable", `${operation}: the file system failed with ${code}`, { cause: error });
}

interface Progress {
  isGivenUp: boolean;
  hasChanged: boolean;
}

async function locked<T>(change: FileChange<T>, progress: Progress): Promise<T> {
  const held = await acquire(change.path, progress);
  try {
    return await change.work({
      replace: (text) => replaceFile(change.path, text, () => assertMayChange(held, progress)),
      remove: async () => {
        assertMayChange(held, progress);
        await unlink(change.path);
        await syncDirectory(dirname(change.path));
      },
    });
  } finally {
    await held.release();
  }
}

/** Changes come one after another in a process, so a lock that is taken is another process's. */
async function acquire(path: string, progress: Progress): Promise<Held> {
  for (let attempt = 0; ; attempt += 1) {
    assertWanted(progress);
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
  readonly #since = performance.now();
  #isLost = false;

  private constructor(release: () => Promise<void>) {
    this.#release = release;
  }

  static async take(path: string): Promise<Held> {
    let held: Held | undefined;
    const release = await lock(path, {
      realpath: false,
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
    return !this.#isLost && performance.now() - this.#since < FRESH_MS;
  }

  async release(): Promise<void> {
    // A lock that was taken away is not this one's to give up.
    await this.#release().catch(() => undefined);
  }
}

function assertWanted({ isGivenUp }: Progress): void {
  if (isGivenUp) {
    // The caller was told already. Nobody hears this.
    throw stateError("timeout", "the call was given up");
  }
}

function assertMayChange(held: Held, progress: Progress): void {
  assertWanted(progress);
  if (!held.isSure) {
    throw stateError("unavailable", "the lock was held too long to be sure of it");
  }
  progress.hasChanged = true;
}

/** A crash leaves the old file or the new one, and at most a temporary file beside it. */
async function replaceFile(path: string, text: string, beforeChange: () => void): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
  beforeChange();
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

/** Windows cannot open a directory, and keeps names safe by itself. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") {
    return;
  }
  const directory: FileHandle = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
