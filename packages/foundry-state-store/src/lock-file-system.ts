import * as fs from "node:fs";
import { mkdir, rmdir, stat } from "node:fs/promises";
import { FileProblem, systemCode } from "@agentfw/core/backend";
import { ifThere } from "./if-there.ts";

/** What a lock knows of itself. */
export interface LockState {
  /** A lock that is not renewed for so long is taken to be a dead process's. */
  readonly staleMs: number;
  /** True from the moment at which the lock was had. */
  isHeld(): boolean;
  /** True while nobody can have taken the lock away. */
  isSure(): boolean;
}

/** The calls that `proper-lockfile` makes. */
export type LockFileSystem = Pick<typeof fs, "mkdir" | "realpath" | "stat" | "utimes"> & {
  rmdir(path: string, done: (error: unknown) => void): void;
  rmdirSync(path: string): void;
};

/**
 * The file system for `proper-lockfile`, with one call of its own. The library removes a lock by its path, whosever it has
 * become since it was looked at: of two processes that find one stale lock, the slower would remove the lock that the
 * faster has just made, and both would hold it. Here a stale lock is removed by one process at a time, which looks again;
 * and a holder that is not sure of its lock any more leaves it, to become stale.
 */
export function lockFileSystem({ staleMs, isHeld, isSure }: LockState): LockFileSystem {
  const { mkdir, realpath, rmdirSync, stat, utimes } = fs;
  return {
    mkdir,
    realpath,
    stat,
    utimes,
    rmdir(path, done) {
      const removal = isHeld() ? (isSure() ? rmdir(path) : Promise.resolve()) : removeStale(path, staleMs);
      removal.then(() => done(null), done);
    },
    rmdirSync(path) {
      if (isSure()) {
        rmdirSync(path);
      }
    },
  };
}

/** Removes a lock if it is stale, as the only one who does. @throws `ELOCKED` when somebody has it, or is at it */
async function removeStale(path: string, staleMs: number): Promise<void> {
  const guard = `${path}.takeover`;
  const since = performance.now();
  try {
    await mkdir(guard);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") {
      throw error;
    }
    // Whoever is at it takes no longer than a moment, unless it died meanwhile.
    await removeIf(guard, staleMs, () => true);
    throw locked();
  }
  try {
    // Who stood still in here may have been taken for dead, too.
    if (!(await removeIf(path, staleMs, () => performance.now() - since < staleMs / 2))) {
      throw locked();
    }
  } finally {
    await ifThere(rmdir(guard));
  }
}

/** False when it is there and not stale, or when this process is not sure of itself. */
async function removeIf(path: string, staleMs: number, isSure: () => boolean): Promise<boolean> {
  const found = await ifThere(stat(path));
  if (found === undefined) {
    return true;
  }
  const isStale = found.mtimeMs < Date.now() - staleMs;
  if (isStale && isSure()) {
    await ifThere(rmdir(path));
    return true;
  }
  return false;
}

/** What the library throws itself for a lock that somebody has. */
function locked(): FileProblem {
  return new FileProblem("ELOCKED", "the lock is somebody else's");
}
