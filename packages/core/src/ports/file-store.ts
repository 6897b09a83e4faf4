import type { Scope } from "./state-types.ts";

/** Options of `write`. */
export interface FileWriteOptions extends Scope {
  /** Write only over this version; else `conflict` with the current etag, when there is one. */
  readonly ifMatch?: string | undefined;
  /** Write only if there is no such file; else `conflict`. */
  readonly ifNoneMatch?: "*" | undefined;
}

/** Options of `search`. */
export interface FileSearchOptions extends Scope {
  /** Only below this directory. */
  readonly directory?: string | undefined;
  /** At most this many lines; default 100. */
  readonly limit?: number | undefined;
  /** The search ends within this time with `timeout`; default 1,000. */
  readonly timeoutMs?: number | undefined;
}

/** One matching line. */
export interface FileMatch {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

/** A file in a listing, without its text. */
export interface FileEntry {
  readonly path: string;
  /** The one that `read` gives. */
  readonly etag: string;
}

/**
 * Text files under relative, normalized paths (`/` between segments). A path that is absolute, leaves the root, or
 * holds a drive letter, a reserved device name, NUL or an empty segment is refused with `configuration`. Links are not followed. Names of
 * files and directories that differ only in case or Unicode form never overwrite each other silently: the second one is a
 * `conflict`, and so is a file where a directory is, or the other way around.
 */
export interface FileStore {
  readonly contractVersion: 1;

  /** The file's text and etag, or `undefined` when there is no such file. */
  read(path: string, options?: Scope): Promise<{ readonly text: string; readonly etag: string } | undefined>;

  /** Writes the whole file atomically: a reader sees the old text or the new one. Every write gives a new etag. */
  write(path: string, text: string, options?: FileWriteOptions): Promise<{ readonly etag: string }>;

  /** True when a file was deleted. */
  delete(path: string, options?: Scope): Promise<boolean>;

  /** True when `path` is a file. */
  exists(path: string, options?: Scope): Promise<boolean>;

  /** The paths of all files below a directory (`""` is the root), at any depth, sorted; an unknown one gives `[]`. */
  list(directory: string, options?: Scope): Promise<string[]>;

  /** As `list`, with the etags: whoever kept what was read needs to read only what changed. Optional. */
  listEntries?(directory: string, options?: Scope): Promise<FileEntry[]>;

  /**
   * The lines that match a regular expression of at most 256 characters, whatever their case. Settles within its time limit and never
   * blocks the event loop for long; a pattern that is too long or malformed is `configuration`.
   */
  search(pattern: string, options?: FileSearchOptions): Promise<FileMatch[]>;

  /**
   * Releases what the store opened itself; a client that was passed in stays open. Calls that were made before end as they
   * would have, where there is time for it. A later call rejects with `configuration` and does nothing; only `close` itself
   * can be called again.
   */
  close?(): Promise<void>;
}
