import {
  assertCallOptions,
  configurationError,
  type FileEntry,
  type FileMatch,
  type FileSearchOptions,
  type FileStore,
  type FileWriteOptions,
  type Scope,
} from "@agentfw/core";
import { assertByteLength, assertOwner, assertSearch, EngineCalls, fileFailure } from "@agentfw/core/backend";
import { storeEngine } from "./load-engine.ts";
import { ownerSegments, segmentsOf } from "./names.ts";
import { type FileSystemFileStoreOptions, resolveOptions } from "./options.ts";
import { PROVIDER } from "./provider-name.ts";
import type { Folder, Reading } from "./reading.ts";
import type { Place, Writing } from "./writing.ts";

/**
 * Text files in a directory of a local disk.
 *
 * **Layout.** `<root>/<path>` for files without an owner, `<root>/_owners/<owner>/<path>` for others; plain text as it
 * was written. `<root>/_store` holds locks and unfinished files.
 *
 * **Atomicity.** A write is a new file, synced, that takes the place of the old one by a rename. Conditions, limits and
 * clashing names are judged with the directory locked among processes.
 *
 * **Isolation.** No path leads out of an owner's directory; links, also hard ones, are refused at any depth. On Linux
 * directories are held open on the way down, so nothing that is exchanged meanwhile is followed.
 *
 * **Failure.** Every call settles within `timeoutMs`. A write ends as `timeout` before its change and as
 * `outcome_unknown` during it. A file that cannot be read is never an absent one.
 *
 * **Limits.** `maxFileBytes` for a file; `maxFiles` and `maxTotalBytes` for the files of one directory.
 *
 * **Security.** Directories are made 0700 and files 0600. Nothing is encrypted.
 */
export class FileSystemFileStore implements FileStore {
  readonly contractVersion: 1 = 1;
  readonly #maxFileBytes: number;
  readonly #calls: EngineCalls<{ readonly reading: Reading; readonly writing: Writing }>;

  /**
   * Begins to load what works on the disk; reads and makes nothing there yet.
   *
   * @param root The directory, made at the first write. On a local disk: network file systems are not supported.
   * @throws `configuration` naming the option and the rule.
   */
  constructor(root: string, options: FileSystemFileStoreOptions = {}) {
    const settings = resolveOptions(root, options);
    this.#maxFileBytes = settings.maxFileBytes;
    this.#calls = new EngineCalls({
      provider: PROVIDER,
      timeoutMs: settings.timeoutMs,
      load: async () => {
        const { Directories, Reading, Writing } = await storeEngine.load();
        const directories = new Directories(settings.root, settings.fsync);
        return { reading: new Reading(settings, directories), writing: new Writing(settings, directories) };
      },
      failureOf: fileFailure,
    });
  }

  async read(path: string, options: Scope = {}): Promise<{ text: string; etag: string } | undefined> {
    const place = placeOf(path, options);
    return this.#calls.run("read", "read", options.signal, ({ reading }) => reading.read(place));
  }

  async write(path: string, text: string, options: FileWriteOptions = {}): Promise<{ etag: string }> {
    const place = placeOf(path, options);
    if (typeof text !== "string" || !text.isWellFormed()) {
      throw configurationError("text", "must be a string without lone surrogates");
    }
    const { ifMatch, ifNoneMatch, signal } = options;
    if (ifNoneMatch !== undefined && ifNoneMatch !== "*") {
      throw configurationError("ifNoneMatch", 'must be "*"');
    }
    assertByteLength(text, "text", this.#maxFileBytes);
    const bytes = Buffer.from(text, "utf8");
    return this.#calls.run("write", "write", signal, ({ writing }, progress) =>
      writing.write(place, bytes, { ifMatch, ifNoneMatch }, progress),
    );
  }

  async delete(path: string, options: Scope = {}): Promise<boolean> {
    const place = placeOf(path, options);
    return this.#calls.run("write", "delete", options.signal, ({ writing }, progress) =>
      writing.delete(place, progress),
    );
  }

  async exists(path: string, options: Scope = {}): Promise<boolean> {
    const place = placeOf(path, options);
    return this.#calls.run("read", "exists", options.signal, ({ reading }) => reading.exists(place));
  }

  async list(directory: string, options: Scope = {}): Promise<string[]> {
    const folder = folderOf(directory, options);
    return this.#calls.run("read", "list", options.signal, ({ reading }) => reading.list(folder));
  }

  async listEntries(directory: string, options: Scope = {}): Promise<FileEntry[]> {
    const folder = folderOf(directory, options);
    return this.#calls.run("read", "listEntries", options.signal, ({ reading }) => reading.listEntries(folder));
  }

  async search(pattern: string, options: FileSearchOptions = {}): Promise<FileMatch[]> {
    const { limit, timeoutMs } = assertSearch(pattern, options);
    const { directory = "", signal } = options;
    const folder = folderOf(directory, options);
    return this.#calls.run(
      "read",
      "search",
      signal,
      ({ reading }) => reading.search(folder, pattern, { limit, timeoutMs, signal }),
      // The search itself ends first, unless the disk does not answer.
      timeoutMs + 50,
    );
  }

  /**
   * Resolves when the writes under way have ended, those included that their callers gave up.
   *
   * @throws `timeout` when one of them does not end in the time that a call may take
   */
  async close(): Promise<void> {
    await this.#calls.close((engine) => engine.writing.close());
  }
}

function ownerOf({ owner = null }: Scope): readonly string[] {
  assertOwner(owner, "owner");
  return ownerSegments(owner);
}

function placeOf(path: string, options: Scope): Place {
  assertCallOptions(options);
  const owner = ownerOf(options);
  const segments = segmentsOf(path, "path");
  return { directory: [...owner, ...segments.slice(0, -1)], name: segments.at(-1) ?? "" };
}

function folderOf(directory: string, options: Scope): Folder {
  assertCallOptions(options);
  const owner = ownerOf(options);
  return { owner, segments: directory === "" ? [] : segmentsOf(directory, "directory") };
}
