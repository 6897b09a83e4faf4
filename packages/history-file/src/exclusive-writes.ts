import { AgentFrameworkError, isAgentFrameworkError, withDeadline } from "@agentfw/core";
import type { Directories } from "./directories.ts";
import { PROVIDER, toFrameworkError } from "./errors.ts";
import { KeyedQueue } from "./keyed-queue.ts";
import { type HeldLock, WriterLocks } from "./lock.ts";
import type { OpenFiles, Place } from "./open-files.ts";
import type { Settings } from "./options.ts";

/** What a write may do while it has the conversation for itself. */
export interface WriteAccess {
  readonly temporaryFile: string;
  /** Call right before each change; throws when the call was given up or the lock is not certain any more. */
  beforeChange(): void;
  /** Call between the steps of long work that changes nothing yet. */
  renew(): Promise<void>;
}

/** One write of one conversation. */
export interface WriteCall<T> {
  readonly operation: string;
  readonly place: Place;
  readonly signal: AbortSignal | undefined;
  work(access: WriteAccess): Promise<T>;
  /** Runs when the conversation is free again. */
  afterwards?(): Promise<void>;
}

/**
 * Gives a conversation to one write at a time: first among the calls of this process, in their order, then among
 * processes. Every call settles within the deadline. Until its first change it ends as `timeout` or with the abort and
 * has written nothing; from then on as `outcome_unknown`.
 */
export class ExclusiveWrites {
  readonly #timeoutMs: number;
  readonly #directories: Directories;
  readonly #files: OpenFiles;
  readonly #locks: WriterLocks;
  readonly #queue = new KeyedQueue();

  constructor(settings: Settings, directories: Directories, files: OpenFiles) {
    this.#timeoutMs = settings.timeoutMs;
    this.#directories = directories;
    this.#files = files;
    this.#locks = new WriterLocks(directories, settings.onDiagnostic);
  }

  async run<T>(call: WriteCall<T>): Promise<T> {
    const { operation, place, signal } = call;
    const progress = new Progress();
    try {
      const deadline = { kind: "write", provider: PROVIDER, timeoutMs: this.#timeoutMs, signal } as const;
      return await withDeadline(operation, deadline, () =>
        this.#queue.run(place.file, () => this.#locked(call, progress)),
      );
    } catch (error) {
      // Whatever still runs stops at its next step, unless it was changing the file already.
      progress.isGivenUp = true;
      throw progress.hasChanged ? toFrameworkError(error, operation) : this.#unchanged(error, operation);
    }
  }

  /** Resolves when all writes have ended, and gives up this writer's name. */
  async close(): Promise<void> {
    await this.#queue.settled();
    await this.#locks.close();
  }

  async #locked<T>(call: WriteCall<T>, progress: Progress): Promise<T> {
    const { place } = call;
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
      return await call.work(accessOf(lock, progress));
    } finally {
      await lock.release();
      await call.afterwards?.();
    }
  }

  /** The outcome of a write that changed nothing is known, so it is never `outcome_unknown`. */
  #unchanged(error: unknown, operation: string): unknown {
    if (!isAgentFrameworkError(error, "outcome_unknown")) {
      return toFrameworkError(error, operation);
    }
    return (
      error.cause ??
      new AgentFrameworkError("timeout", `${operation}: other writers had the conversation for ${this.#timeoutMs} ms`, {
        provider: PROVIDER,
      })
    );
  }
}

/** How far a call is, and whether its caller still waits for it. */
export class Progress {
  hasChanged = false;
  isGivenUp = false;

  /** Stops a call whose caller was answered already. What is thrown reaches nobody. */
  assertWanted(): void {
    if (this.isGivenUp) {
      throw new AgentFrameworkError("timeout", "the call was given up", { provider: PROVIDER });
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
