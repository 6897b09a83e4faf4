import { AgentFrameworkError, configurationError, type ErrorCode } from "../errors.ts";
import { assertFilePath, assertSearch, foldFileName } from "../file-path.ts";
import type { FileEntry, FileMatch, FileSearchOptions, FileStore, FileWriteOptions } from "../ports/file-store.ts";
import type { Scope } from "../ports/state-types.ts";
import { conflict, Partitions } from "./in-memory-parts.ts";

interface File {
  readonly path: string;
  readonly text: string;
  readonly etag: string;
}

/**
 * The reference implementation of {@link FileStore}: one process, nothing survives it. Names are compared without
 * regard to case and Unicode form, as the strictest file systems do, so what works here works everywhere.
 *
 * `search` takes time in proportion to the text, whatever the pattern, and lets other work run every few milliseconds.
 */
export class InMemoryFileStore implements FileStore {
  readonly contractVersion: 1 = 1;

  readonly #owners = new Partitions<File>();
  #writes = 0;

  async read(path: string, options: Scope = {}): Promise<{ text: string; etag: string } | undefined> {
    const file = this.#find(path, options);
    return file && { text: file.text, etag: file.etag };
  }

  async write(path: string, text: string, options: FileWriteOptions = {}): Promise<{ etag: string }> {
    const files = this.#owners.of(options);
    assertFilePath(path, "path");
    if (typeof text !== "string" || !text.isWellFormed()) {
      throw configurationError("text", "must be a string without lone surrogates");
    }
    const { ifMatch, ifNoneMatch } = options;
    if (ifNoneMatch !== undefined && ifNoneMatch !== "*") {
      throw configurationError("ifNoneMatch", 'must be "*"');
    }
    // Loaded at the first write: programs that keep no files need not carry it. From here on nothing waits.
    const { clashOf } = await import("./file-clash.ts");
    const folded = foldFileName(path);
    const existing = files.get(folded);
    const clash = existing?.path === path ? undefined : clashOf(files, path, folded);
    if (clash) {
      throw conflict("the name is taken", clash.etag);
    }
    if ((existing && ifNoneMatch) || (ifMatch !== undefined && ifMatch !== existing?.etag)) {
      throw conflict("the etag does not match", existing?.etag);
    }
    this.#writes += 1;
    const etag = String(this.#writes);
    files.set(folded, { path, text, etag });
    return { etag };
  }

  async delete(path: string, options: Scope = {}): Promise<boolean> {
    return !!this.#find(path, options) && this.#owners.of(options).delete(foldFileName(path));
  }

  async exists(path: string, options: Scope = {}): Promise<boolean> {
    return !!this.#find(path, options);
  }

  async list(directory: string, options: Scope = {}): Promise<string[]> {
    return this.#below(directory, options).map(({ path }) => path);
  }

  async listEntries(directory: string, options: Scope = {}): Promise<FileEntry[]> {
    return this.#below(directory, options).map(({ path, etag }) => ({ path, etag }));
  }

  async search(pattern: string, options: FileSearchOptions = {}): Promise<FileMatch[]> {
    const { limit, timeoutMs } = assertSearch(pattern, options);
    const { directory = "", signal } = options;
    // The files are taken at one point in time, and before anything waits: the options are the caller's to change.
    const files = this.#below(directory, options);
    // Loaded at the first search: programs that never search need not carry a matcher.
    const { searchFiles } = await import("../file-search.ts");
    const makeError = (code: ErrorCode, message: string) =>
      new AgentFrameworkError(code, message, { provider: "in-memory" });
    return searchFiles(files, pattern, { limit, timeoutMs, signal, makeError });
  }

  /** The file of exactly this name: another spelling of it is another file, as far as readers can tell. */
  #find(path: string, scope: Scope): File | undefined {
    const files = this.#owners.of(scope);
    assertFilePath(path, "path");
    const file = files.get(foldFileName(path));
    return file?.path === path ? file : undefined;
  }

  #below(directory: string, scope: Scope): File[] {
    const files = this.#owners.of(scope);
    if (directory !== "") {
      assertFilePath(directory, "directory");
    }
    const prefix = directory && `${directory}/`;
    return [...files.values()]
      .filter((file) => file.path.startsWith(prefix))
      .sort((left, right) => (left.path < right.path ? -1 : 1));
  }
}
