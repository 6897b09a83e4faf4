import type { BigIntStats } from "node:fs";
import { join } from "node:path";
import type { HistoryKey } from "@agentfw/core";
import { FileProblem, systemCode } from "@agentfw/core/backend";
import type { Directories } from "./directories.ts";
import { corruptError, refusedError } from "./errors.ts";
import { close, fstat, lstat, open, READ_APPEND, READ_ONLY, stat, statNow } from "./file-calls.ts";
import { type ConversationPath, conversationPath } from "./file-names.ts";
import { readHeader } from "./header.ts";
import type { ConversationHeader } from "./line-format.ts";
import { type Kept, RecentlyUsed } from "./recently-used.ts";
import type { Tail } from "./tail.ts";

/** So many files stay open in the process, for at most so long after their last use. */
const RECENT = new RecentlyUsed(64, 60_000);

/** A conversation's key and where it is. */
export interface Place {
  readonly key: HistoryKey;
  readonly path: ConversationPath;
  /** Absolute. */
  readonly file: string;
}

/** A file that is open, with what is known of it. */
export interface OpenFile {
  readonly descriptor: number;
  readonly header: ConversationHeader;
  /** Behind the header. */
  readonly headerEnd: number;
  /** Behind the line that remembers replaced ids: where the first turn starts. */
  readonly bodyStart: number;
  /** What the last write of this process knew of the end; only touched under the lock. */
  tail: Tail | undefined;
}

/** A file and its size when it was looked up. */
export interface FoundFile {
  readonly file: OpenFile;
  readonly size: number;
}

interface Entry extends OpenFile, Kept {
  readonly isWritable: boolean;
  readonly device: bigint;
  readonly inode: bigint;
  /** Closed when nobody uses it any more; that it is kept is a use of its own. */
  users: number;
}

/**
 * Keeps descriptors of recently used files. A descriptor is used only while the path still leads to the same file: as
 * long as it is open its inode number cannot be given to another file, so one `stat` proves that.
 */
export class OpenFiles {
  readonly #directories: Directories;
  readonly #entries = new Map<string, Entry>();

  constructor(directories: Directories) {
    this.#directories = directories;
  }

  /** Where the conversation of `key` is. */
  place(key: HistoryKey): Place {
    const path = conversationPath(key);
    return { key, path, file: join(this.#directories.root, ...path) };
  }

  /** True when the file was opened, and with it the directories around it were checked. */
  knows(place: Place): boolean {
    return this.#entries.has(place.file);
  }

  /**
   * Lends the conversation's file to `work`; undefined when there is none. A reader needs no right to write.
   *
   * @throws `corrupt` for a file whose header cannot be read or is another conversation's, `unsupported` for one of a
   * later version.
   */
  async use<T>(place: Place, mode: "read" | "append", work: (found: FoundFile) => Promise<T>): Promise<T | undefined> {
    // An append has just made its lock beside the file.
    const isAtHand = mode === "append" && this.knows(place);
    const status = isAtHand ? statNow(place.file) : await stat(place.file);
    if (status === undefined) {
      this.forget(place);
      await this.#assertAbsent(place);
      return undefined;
    }
    const cached = this.#entries.get(place.file);
    const isFit = cached?.isWritable || mode === "read";
    if (cached !== undefined && isFit && cached.inode === status.ino && cached.device === status.dev) {
      return this.#lend(cached, Number(status.size), work);
    }
    this.forget(place);
    return this.#open(place, mode, work);
  }

  /** True when no file is there, and really none: a link or a store that is out of reach rejects. */
  async isAbsent(place: Place): Promise<boolean> {
    const isThere = (await lstat(place.file)) !== undefined;
    if (!isThere) {
      await this.#assertAbsent(place);
    }
    return !isThere;
  }

  /** Gives up the descriptor; the file may be gone or replaced. */
  forget(place: Place): void {
    this.#entries.get(place.file)?.giveUp();
  }

  /** Closes every descriptor as soon as nobody uses it. */
  closeAll(): void {
    for (const entry of this.#entries.values()) {
      entry.giveUp();
    }
  }

  async #lend<T>(entry: Entry, size: number, work: (found: FoundFile) => Promise<T>): Promise<T> {
    entry.users += 1;
    RECENT.use(entry);
    try {
      return await work({ file: entry, size });
    } finally {
      release(entry);
    }
  }

  async #open<T>(
    place: Place,
    mode: "read" | "append",
    work: (found: FoundFile) => Promise<T>,
  ): Promise<T | undefined> {
    await this.#directories.assertPlain(place.path);
    const opened = await openForUse(place.file, mode);
    if (opened === undefined) {
      await this.#assertAbsent(place);
      return undefined;
    }
    let found: Omit<Entry, "giveUp"> | undefined;
    let size = 0;
    try {
      const status = await fstat(opened.descriptor);
      size = Number(status.size);
      found = await describe(this.#directories.root, place, opened, status);
    } finally {
      if (found === undefined) {
        await close(opened.descriptor);
      }
    }
    if (found === undefined) {
      return undefined;
    }
    this.#directories.noticed();
    return this.#lend(this.#remember(place, found), size, work);
  }

  async #assertAbsent(place: Place): Promise<void> {
    await this.#directories.assertAbsenceIsReal();
    await this.#directories.assertPlain(place.path);
    const status = await lstat(place.file);
    if (status?.isSymbolicLink()) {
      throw refusedError(place.file);
    }
  }

  #remember(place: Place, found: Omit<Entry, "giveUp">): Entry {
    this.forget(place);
    const entry: Entry = {
      ...found,
      giveUp: () => {
        if (this.#entries.get(place.file) === entry) {
          this.#entries.delete(place.file);
          RECENT.remove(entry);
          release(entry);
        }
      },
    };
    this.#entries.set(place.file, entry);
    return entry;
  }
}

function release(entry: Entry): void {
  entry.users -= 1;
  if (entry.users === 0) {
    // Writes were synced by whoever made them, so closing has nothing to report.
    close(entry.descriptor).catch(() => undefined);
  }
}

async function openForUse(
  file: string,
  mode: "read" | "append",
): Promise<{ descriptor: number; isWritable: boolean } | undefined> {
  try {
    return { descriptor: await open(file, READ_APPEND), isWritable: true };
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") {
      return undefined;
    }
    if (mode === "read" && (code === "EACCES" || code === "EPERM" || code === "EROFS")) {
      return { descriptor: await open(file, READ_ONLY), isWritable: false };
    }
    throw error;
  }
}

async function describe(
  root: string,
  place: Place,
  opened: { descriptor: number; isWritable: boolean },
  status: BigIntStats,
): Promise<Omit<Entry, "giveUp"> | undefined> {
  if (!status.isFile()) {
    throw status.isDirectory() ? new FileProblem("EISDIR", `a directory: ${place.file}`) : refusedError(place.file);
  }
  const found = await readHeader(opened.descriptor, Number(status.size), root, place.file);
  if (found === undefined) {
    return undefined;
  }
  const bodyStart = found.headerEnd + found.header.replacedBytes;
  if (bodyStart > status.size) {
    throw corruptError("the file ends within its first lines", `byte ${status.size}`, place.file);
  }
  return {
    ...opened,
    ...found,
    bodyStart,
    tail: undefined,
    device: status.dev,
    inode: status.ino,
    users: 1,
  };
}
