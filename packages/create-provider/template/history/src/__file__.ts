import type {
  AppendOptions,
  CallOptions,
  HistoryCapabilities,
  HistoryKey,
  HistoryPage,
  HistoryRecord,
  HistoryStore,
  ReadOptions,
} from "@agentfw/core";
import { notWritten } from "./errors.ts";
import { type __class__Options, resolveOptions } from "./options.ts";

/**
 * Conversations on __name__. One instance serves all conversations and any number of callers at once.
 *
 * The constructor checks the options and does nothing else: what must be opened is opened by the first call.
 */
export class __class__ implements HistoryStore {
  readonly contractVersion: 1 = 1;

  /**
   * What is declared here must work, and the suite checks it; what is not declared must be refused. This is the least
   * that there is: declare more when it works.
   */
  readonly capabilities: HistoryCapabilities = {
    dedupe: 1_000,
    processes: "one",
    conditionalAppend: false,
    replace: false,
    list: false,
    ttl: false,
    maxRecords: false,
    maxRecordBytes: 1_048_576,
  };

  /** @throws `configuration` naming the option and the rule. */
  constructor(options: __class__Options = {}) {
    resolveOptions(options);
  }

  append(
    _key: HistoryKey,
    _records: readonly HistoryRecord[],
    _options: AppendOptions = {},
  ): Promise<{ readonly version: string; readonly appended: number }> {
    return notWritten("append");
  }

  read(_key: HistoryKey, _options: ReadOptions = {}): Promise<HistoryPage> {
    return notWritten("read");
  }

  clear(_key: HistoryKey, _options: CallOptions = {}): Promise<void> {
    return notWritten("clear");
  }

  /**
   * Releases what the store opened itself. Afterwards every call is refused with `configuration`, and this can be called
   * again. Take it away where there is nothing to release.
   */
  async close(): Promise<void> {}
}
