import { createHash, randomInt } from "node:crypto";
import { readdir } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { type DiagnosticHandler, report } from "@agentfw/core";
import { type CallProgress, foldFileName, KeyedQueue } from "@agentfw/core/backend";
import { storeError } from "./errors.ts";
import { CREATE_NEW, close, lstat, open, unlink } from "./file-calls.ts";
import type { OpenDirectory } from "./open-directory.ts";
import { PROVIDER } from "./provider-name.ts";
import { livenessOf, newIdentity, randomPart } from "./writer-identity.ts";

/** A lock whose holder can be proven neither alive nor dead is broken when it is there for so long. */
export const UNKNOWN_HOLDER_MS = 10_000;
/** A lock that is older may have been taken for a dead one's, so its holder changes nothing more under it. */
const FRESH_MS: number = UNKNOWN_HOLDER_MS / 2;
const LONGEST_PAUSE_MS = 16;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Locks between processes. Everybody who wants a lock makes a file of a name that nobody else ever has, then looks
 * around: whoever sees no other live one has the lock, because of two that overlap at least the later one sees the other.
 * The file of a dead process can therefore be removed by anyone at any time; it is never another's lock by then.
 *
 * Of several who wait the oldest stays and the others step back, so that it finds itself alone soon.
 */
export class Locks {
  readonly #onDiagnostic: DiagnosticHandler | undefined;
  /** Locks whose holders are unknown: since when they are seen, by a clock that is never set. */
  readonly #watched = new Map<string, number>();
  /** Of those of this process who want the same lock only one asks the file system. */
  readonly #queue = new KeyedQueue();

  constructor(onDiagnostic: DiagnosticHandler | undefined) {
    this.#onDiagnostic = onDiagnostic;
  }

  /**
   * Runs `work` once no one else has the lock, in order within this process. Among processes it polls, because a file
   * system wakes nobody; the pauses grow and vary.
   *
   * @param store Where the lock files are.
   * @param directory The segments of the directory that is locked.
   * @throws when the call was given up before it has the lock.
   */
  hold<T>(
    store: OpenDirectory,
    directory: readonly string[],
    progress: CallProgress,
    work: (lock: HeldLock) => Promise<T>,
  ): Promise<T> {
    const key = lockKey(directory);
    return this.#queue.run(key, async () => {
      progress.assertWanted();
      const lock = await this.#takeAmongProcesses(store, key, progress);
      try {
        return await work(lock);
      } finally {
        await lock.release();
      }
    });
  }

  /** Removes what processes that ended left behind: locks that nobody waits for, and unfinished files. */
  async sweep(place: OpenDirectory): Promise<void> {
    for (const name of await readdir(place.at(""))) {
      const identity = identityIn(name);
      if (identity !== undefined && (await isLeftOver(identity, place.at(name)))) {
        await unlink(place.at(name));
      }
    }
  }

  async #takeAmongProcesses(place: OpenDirectory, key: string, progress: CallProgress): Promise<HeldLock> {
    const ticket = Date.now().toString(36).padStart(9, "0");
    const make = () => HeldLock.make(place, `${key}.${ticket}`, progress);
    let own = await make();
    for (let attempt = 0; ; attempt += 1) {
      try {
        progress.assertWanted();
        const { isThere, others } = await this.#look(place, key, own);
        if (isThere && others.length === 0 && own.isFresh) {
          return own;
        }
        const mustStepBack = !isThere || !own.isFresh || others.some((name) => name < own.name);
        if (mustStepBack) {
          await own.release();
        }
        await pause(randomInt(1, Math.min(LONGEST_PAUSE_MS, 2 ** attempt) + 1));
        if (mustStepBack) {
          own = await make();
        }
      } catch (error) {
        await own.release();
        throw error;
      }
    }
  }

  async #look(place: OpenDirectory, key: string, own: HeldLock): Promise<{ isThere: boolean; others: string[] }> {
    const names = (await readdir(place.at(""))).filter((name) => name.startsWith(`${key}.`));
    const others: string[] = [];
    for (const name of names) {
      if (name !== own.name && (await this.#isHeld(place, name))) {
        others.push(name);
      }
    }
    return { isThere: names.includes(own.name), others };
  }

  async #isHeld(place: OpenDirectory, name: string): Promise<boolean> {
    const identity = identityIn(name);
    const liveness = identity === undefined ? "dead" : await livenessOf(identity);
    if (liveness === "alive" || (liveness === "unknown" && !this.#isGivenUp(name))) {
      return true;
    }
    this.#watched.delete(name);
    await unlink(place.at(name));
    report(this.#onDiagnostic, {
      type: "lock_broken",
      provider: PROVIDER,
      message: "a writer ended without releasing its lock; the lock was removed",
    });
    return false;
  }

  #isGivenUp(name: string): boolean {
    const now = performance.now();
    const since = this.#watched.get(name) ?? now;
    for (const [other, seen] of this.#watched) {
      if (now - seen > 2 * UNKNOWN_HOLDER_MS) {
        this.#watched.delete(other);
      }
    }
    this.#watched.set(name, since);
    return now - since > UNKNOWN_HOLDER_MS;
  }
}

/** The name under which writers of one directory meet: the same for spellings that some file systems take for one. */
function lockKey(directory: readonly string[]): string {
  return createHash("sha256")
    .update(foldFileName(directory.join("/")))
    .digest("hex")
    .slice(0, 32);
}

/** The right to change one directory. */
export class HeldLock {
  readonly name: string;
  readonly #place: OpenDirectory;
  readonly #progress: CallProgress;
  readonly #since: number = performance.now();

  private constructor(place: OpenDirectory, name: string, progress: CallProgress) {
    this.#place = place;
    this.name = name;
    this.#progress = progress;
  }

  static async make(place: OpenDirectory, start: string, progress: CallProgress): Promise<HeldLock> {
    const lock = new HeldLock(place, `${start}.${await newIdentity()}.lock`, progress);
    await close(await open(place.at(lock.name), CREATE_NEW));
    return lock;
  }

  get isFresh(): boolean {
    return performance.now() - this.#since <= FRESH_MS;
  }

  /**
   * Call right before the change that decides.
   *
   * @throws when the call was given up; `unavailable` when the lock was held for too long to be sure of it.
   */
  beforeChange(): void {
    if (!this.isFresh) {
      throw storeError("unavailable", "the lock was held too long to be sure of it");
    }
    this.#progress.beforeChange();
  }

  async release(): Promise<void> {
    await unlink(this.#place.at(this.name));
  }
}

async function isLeftOver(identity: string, path: string): Promise<boolean> {
  const liveness = await livenessOf(identity);
  if (liveness !== "unknown") {
    return liveness === "dead";
  }
  const status = await lstat(path);
  return status !== undefined && Date.now() - Number(status.mtimeMs) > DAY_MS;
}

/** Who made a file of `_store`, as its name says. */
function identityIn(name: string): string | undefined {
  const identity = /^(?:[0-9a-f]{32}\.[0-9a-z]+\.)?(.*)\.(?:lock|tmp)$/.exec(name)?.[1];
  return identity !== undefined && randomPart(identity) !== undefined ? identity : undefined;
}
