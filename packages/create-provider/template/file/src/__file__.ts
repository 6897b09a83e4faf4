import type { FileMatch, FileSearchOptions, FileStore, FileWriteOptions, Scope } from "@agentfw/core";
import { notWritten } from "./errors.ts";
import { type __class__Options, resolveOptions } from "./options.ts";

/**
 * Text files on __name__. One instance serves all owners and any number of callers at once.
 *
 * The constructor checks the options and does nothing else: what must be opened is opened by the first call. Which paths
 * are allowed, which names clash and how lines are found in time is in `@agentfw/core/files`.
 */
export class __class__ implements FileStore {
  readonly contractVersion: 1 = 1;

  /** @throws `configuration` naming the option and the rule. */
  constructor(options: __class__Options = {}) {
    resolveOptions(options);
  }

  read(_path: string, _options: Scope = {}): Promise<{ readonly text: string; readonly etag: string } | undefined> {
    return notWritten("read");
  }

  write(_path: string, _text: string, _options: FileWriteOptions = {}): Promise<{ readonly etag: string }> {
    return notWritten("write");
  }

  delete(_path: string, _options: Scope = {}): Promise<boolean> {
    return notWritten("delete");
  }

  exists(_path: string, _options: Scope = {}): Promise<boolean> {
    return notWritten("exists");
  }

  list(_directory: string, _options: Scope = {}): Promise<string[]> {
    return notWritten("list");
  }

  search(_pattern: string, _options: FileSearchOptions = {}): Promise<FileMatch[]> {
    return notWritten("search");
  }

  /**
   * Releases what the store opened itself. Afterwards every call is refused with `configuration`, and this can be called
   * again. Take it away where there is nothing to release.
   */
  async close(): Promise<void> {}
}
