import {
  AgentFrameworkError,
  assertCallOptions,
  configurationError,
  type FileEntry,
  type FileMatch,
  type FileSearchOptions,
  type FileStore,
  type FileWriteOptions,
  type Scope,
  withDeadline,
} from "@agentfw/core";
import { assertSearch } from "@agentfw/core/files";
import { Directories } from "./directories.ts";
import { PROVIDER, toFrameworkError } from "./errors.ts";
import { ownerSegments, segmentsOf } from "./names.ts";
import { type FileSystemFileStoreOptions, resolveOptions, type Settings } from "./options.ts";
import { Reading } from "./reading.ts";
import { type Place, Writing } from "./writing.ts";

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
  readonly #settings: Settings;
  readonly #reading: Reading;
  readonly #writing: Writing;

  /**
   * Reads and makes nothing yet.
   *
   * @param root The directory, made at the first write. On a local disk: network file systems are not supported.
   * @throws `configuration` naming the option and the rule.
   */
  constructor(root: string, options: FileSystemFileStoreOptions = {}) {
    this.#settings = resolveOptions(root, options);
    const directories = new Directories(this.#settings.root);
    this.#reading = new Reading(this.#settings, directories);
    this.#writing = new Writing(this.#settings, directories);
  }

  async read(path: string, options: Scope = {}): Promise<{ text: string; etag: string } | undefined> {
    const place = placeOf(path, options);
    return this.#look("read", options, () => this.#reading.read(place));
  }

  async write(path: string, text: string, options: FileWriteOptions = {}): Promise<{ etag: string }> {
    const place = placeOf(path, options);
    if (typeof text !== "string" || !text.isWellFormed()) {
      throw configurationError("text", "must be a string without lone surrogates");
    }
    const { ifMatch, ifNoneMatch, signal } = options;
    if (ifMatch !== undefined && typeof ifMatch !== "string") {
      throw configurationError("ifMatch", "must be an etag");
    }
    if (ifNoneMatch !== undefined && ifNoneMatch !== "*") {
      throw configurationError("ifNoneMatch", 'must be "*"');
    }
    const bytes = Buffer.from(text, "utf8");
    const { maxFileBytes } = this.#settings;
    if (bytes.length > maxFileBytes) {
      throw new AgentFrameworkError(
        "too_large",
        `the text has ${bytes.length} bytes, and a file may have at most ${maxFileBytes}`,
        { provider: PROVIDER },
      );
    }
    return this.#writing.write(place, bytes, { ifMatch, ifNoneMatch, signal });
  }

  async delete(path: string, options: Scope = {}): Promise<boolean> {
    return this.#writing.delete(placeOf(path, options), options.signal);
  }

  async exists(path: string, options: Scope = {}): Promise<boolean> {
    const place = placeOf(path, options);
    return this.#look("exists", options, () => this.#reading.exists(place));
  }

  async list(directory: string, options: Scope = {}): Promise<string[]> {
    const { owner, segments } = directoryOf(directory, options);
    return this.#look("list", options, () => this.#reading.list(owner, segments));
  }

  async listEntries(directory: string, options: Scope = {}): Promise<FileEntry[]> {
    const { owner, segments } = directoryOf(directory, options);
    return this.#look("listEntries", options, () => this.#reading.listEntries(owner, segments));
  }

  async search(pattern: string, options: FileSearchOptions = {}): Promise<FileMatch[]> {
    const { limit, timeoutMs } = assertSearch(pattern, options);
    const { owner, segments } = directoryOf(options.directory ?? "", options);
    const { signal } = options;
    return this.#look(
      "search",
      options,
      () => this.#reading.search(owner, segments, pattern, { limit, timeoutMs, signal }),
      // The search itself ends first, unless the disk does not answer.
      timeoutMs + 50,
    );
  }

  /** Resolves when the writes under way have ended. The store can be used again afterwards. */
  async close(): Promise<void> {
    await this.#writing.close();
  }

  async #look<T>(
    operation: string,
    { signal }: Scope,
    work: () => Promise<T>,
    timeoutMs: number = this.#settings.timeoutMs,
  ): Promise<T> {
    try {
      return await withDeadline(operation, { kind: "read", provider: PROVIDER, timeoutMs, signal }, work);
    } catch (error) {
      throw toFrameworkError(error, operation);
    }
  }
}

function ownerOf({ owner = null }: Scope): readonly string[] {
  if (owner !== null && typeof owner !== "string") {
    throw configurationError("owner", "must be a string, or null for nobody's");
  }
  return ownerSegments(owner);
}

function placeOf(path: string, options: Scope): Place {
  assertCallOptions(options);
  const owner = ownerOf(options);
  const segments = segmentsOf(path, "path");
  return { directory: [...owner, ...segments.slice(0, -1)], name: segments.at(-1) ?? "" };
}

function directoryOf(
  directory: string,
  options: Scope,
): { readonly owner: readonly string[]; readonly segments: readonly string[] } {
  assertCallOptions(options);
  const owner = ownerOf(options);
  return { owner, segments: directory === "" ? [] : segmentsOf(directory, "directory") };
}
