import { randomInt } from "node:crypto";
import { readFile, utimes } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { type DiagnosticHandler, report } from "@agentfw/core";
import { type CallProgress, systemCode } from "@agentfw/core/backend";
import type { Directories } from "./directories.ts";
import { storeError } from "./errors.ts";
import { link, lstat, READ_ONLY, SAFE_FLAGS, unless, unlink } from "./file-calls.ts";
import type { Place } from "./open-files.ts";
import { PROVIDER } from "./provider-name.ts";
import { WriterFile } from "./writer-file.ts";
import { livenessOf, randomPart } from "./writer-identity.ts";

/** A lock whose holder can be proven neither alive nor dead is broken when nothing of it changes for so long. */
export const UNKNOWN_HOLDER_MS = 10_000;
/** A holder that was asleep for so long checks in before it goes on: it may have been taken for dead. */
const FRESH_MS: number = UNKNOWN_HOLDER_MS / 2;
const LONGEST_PAUSE_MS = 16;
/** So often a directory may be removed under a writer that makes it. */
const MOST_ATTEMPTS = 20;

/**
 * Locks between processes. A lock is a hard link to the holder's own file in `_writers`: one system call makes it, fails
 * if it is there, and gives it its content, so there is never a lock without a holder's name in it.
 *
 * A dead holder's lock is removed by whoever makes the mark `<lock>.<random part of the holder>` in the same way. The
 * name belongs to that holder alone, so a breaker that comes late finds another lock than the one it has marked and
 * leaves it.
 */
export class WriterLocks {
  readonly #directories: Directories;
  /** Entered at the first lock. */
  #writerFile: WriterFile | undefined;
  readonly #onDiagnostic: DiagnosticHandler | undefined;
  /** Locks whose holders are unknown: what was seen, and since when by a clock that is never set. */
  readonly #watched = new Map<string, { readonly seen: string; readonly since: number }>();

  constructor(directories: Directories, onDiagnostic: DiagnosticHandler | undefined) {
    this.#directories = directories;
    this.#onDiagnostic = onDiagnostic;
  }

  /**
   * Waits until no one else writes the file. Polls, because a file system wakes nobody; the pauses grow and vary, so
   * that many waiters do not meet again and again.
   *
   * @throws when the call was given up.
   */
  async acquire({ file, path: [owner, source] }: Place, progress: CallProgress): Promise<HeldLock> {
    const lock = `${file}.lock`;
    for (let attempt = 0; ; attempt += 1) {
      progress.assertWanted();
      const identity = await this.#take(lock, () => this.#directories.ensure(owner, source));
      if (identity !== undefined) {
        this.#watched.delete(lock);
        return new HeldLock(file, lock, identity, progress);
      }
      // A holder is asked after only when it takes longer than an ordinary write.
      if (attempt > 1) {
        await this.#breakIfDead(file, lock);
      }
      await pause(randomInt(1, Math.min(LONGEST_PAUSE_MS, 2 ** attempt) + 1));
    }
  }

  /** Gives up this writer's own file. The next lock makes another. */
  async close(): Promise<void> {
    const file = this.#writerFile;
    this.#writerFile = undefined;
    await file?.leave();
  }

  get #writer(): WriterFile {
    this.#writerFile ??= WriterFile.enter(this.#directories.root);
    return this.#writerFile;
  }

  /** The identity under which the lock was taken; undefined where someone else has it. */
  async #take(lock: string, makeDirectory: () => Promise<void>): Promise<string | undefined> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const { identity, path } = await this.#writer.get(this.#directories);
        await link(path, lock);
        return identity;
      } catch (error) {
        const code = systemCode(error) ?? "";
        if (code === "EEXIST") {
          return undefined;
        }
        if (["EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP"].includes(code)) {
          throw storeError("unsupported", "the file system of the directory has no hard links", { cause: error });
        }
        if (code !== "ENOENT" || attempt === MOST_ATTEMPTS) {
          throw error;
        }
        // The directory is missing or was just pruned, or someone removed this writer's file.
        await this.#writer.restore(this.#directories);
        await unless(["ENOENT"], makeDirectory());
      }
    }
  }

  async #breakIfDead(file: string, lock: string): Promise<void> {
    const holder = await holderOf(lock);
    if (holder !== undefined && (await this.#isGivenUp(lock, holder))) {
      await this.#break(file, lock, holder);
    }
  }

  async #isGivenUp(lock: string, holder: Holder): Promise<boolean> {
    const liveness = await livenessOf(holder.identity);
    if (liveness !== "unknown") {
      this.#watched.delete(lock);
      return liveness === "dead";
    }
    const seen = `${holder.identity} ${holder.changed}`;
    const watched = this.#watched.get(lock);
    if (watched?.seen !== seen) {
      this.#watched.set(lock, { seen, since: performance.now() });
      return false;
    }
    return performance.now() - watched.since > UNKNOWN_HOLDER_MS;
  }

  async #break(file: string, lock: string, holder: Holder): Promise<void> {
    const mark = `${lock}.${nameOf(holder.identity)}`;
    if ((await this.#take(mark, async () => undefined)) === undefined) {
      // Another one is at it; should it be dead as well, its mark is removed like a lock.
      await this.#breakIfDead(file, mark);
      return;
    }
    try {
      const now = await holderOf(lock);
      if (now?.identity === holder.identity && now.changed === holder.changed) {
        await unlink(temporaryFileOf(file, holder.identity));
        await unlink(lock);
        this.#watched.delete(lock);
        report(this.#onDiagnostic, {
          type: "lock_broken",
          provider: PROVIDER,
          message: "a writer ended without releasing its lock; the lock was removed",
        });
      }
    } finally {
      await unlink(mark);
    }
  }
}

/** The right to write one conversation. */
export class HeldLock {
  /** Where `replace` builds the new file. Whoever breaks this lock removes it. */
  readonly temporaryFile: string;
  readonly #lock: string;
  readonly #identity: string;
  readonly #progress: CallProgress;
  #since: number = performance.now();

  constructor(file: string, lock: string, identity: string, progress: CallProgress) {
    this.temporaryFile = temporaryFileOf(file, identity);
    this.#lock = lock;
    this.#identity = identity;
    this.#progress = progress;
  }

  /**
   * Call right before each change.
   *
   * @throws when the call was given up; `unavailable` when the lock was held for so long without renewal that another may
   * have broken it.
   */
  beforeChange(): void {
    this.#assertFresh();
    this.#progress.beforeChange();
  }

  /** Call between the steps of a long `replace` that change nothing yet: keeps the lock. @throws as {@link beforeChange} */
  async renew(): Promise<void> {
    this.#progress.assertWanted();
    this.#assertFresh();
    const since = performance.now();
    if (since - this.#since > FRESH_MS / 10) {
      const now = new Date();
      await utimes(this.#lock, now, now);
      this.#since = since;
    }
  }

  async release(): Promise<void> {
    if (this.#isFresh() || (await holderOf(this.#lock))?.identity === this.#identity) {
      await unlink(this.#lock);
    }
  }

  #assertFresh(): void {
    if (!this.#isFresh()) {
      throw storeError("unavailable", "the lock was held too long to be sure of it");
    }
  }

  #isFresh(): boolean {
    return performance.now() - this.#since <= FRESH_MS;
  }
}

interface Holder {
  readonly identity: string;
  /** The change time of the holder's file: it moves with every lock that the holder takes or gives up. */
  readonly changed: bigint;
}

async function holderOf(lock: string): Promise<Holder | undefined> {
  const status = await lstat(lock);
  if (status === undefined) {
    return undefined;
  }
  const flag = READ_ONLY | SAFE_FLAGS;
  const identity = await unless(["ENOENT"], readFile(lock, { encoding: "latin1", flag }));
  return identity === undefined ? undefined : { identity, changed: status.ctimeNs };
}

/** What names a holder in marks and temporary files. */
function nameOf(identity: string): string {
  return randomPart(identity) ?? "unnamed";
}

function temporaryFileOf(file: string, identity: string): string {
  return `${file}.${nameOf(identity)}.tmp`;
}
