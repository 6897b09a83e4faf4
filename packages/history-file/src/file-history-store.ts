import {
  type AppendOptions,
  assertCallOptions,
  type CallOptions,
  type HistoryCapabilities,
  type HistoryKey,
  type HistoryList,
  type HistoryListFilter,
  type HistoryListOptions,
  type HistoryPage,
  type HistoryRecord,
  type HistoryStore,
  type ReadOptions,
} from "@agentfw/core";
import {
  assertRange,
  EngineCalls,
  fileFailure,
  ownHistoryKey,
  ownHistoryRecords,
  ownListFilter,
  ownListOptions,
  ownReadOptions,
} from "@agentfw/core/backend";
import type { ConversationFiles } from "./conversation-files.ts";
import { engineSource } from "./load-engine.ts";
import { type FileHistoryStoreOptions, resolveOptions } from "./options.ts";
import { PROVIDER } from "./provider-name.ts";

/**
 * Conversations in JSON Lines files on a local disk, written by any number of processes of one machine.
 *
 * *Layout*: `<directory>/<owner>/<source>/<session>.jsonl`, a header line and then one line for each turn; records are
 * embedded as they came. Names that are not short and lower-case are hashed. Format version 1.
 *
 * *Atomicity*: a turn is one write at the end of the file, committed by its line feed; `replace` is a new file under
 * the old name, `clear` the removal of the file. Writers of one conversation exclude each other by a lock file that
 * names its holder; readers take no lock.
 *
 * *Isolation*: an owner is a directory of its own, the key stands in the header and is compared when a file is opened.
 *
 * *Failure*: what is not whole is never read as a turn, and cut off by the next append. A line that was committed and
 * cannot be read is `corrupt` and stays as it is. A dead writer's lock is removed, a live one's is waited for.
 *
 * *Limits*: local file systems with hard links. Ids are remembered for the newest `dedupeWindow` records. No expiry and
 * no trimming. A page of `list` reads all names in the directories that it covers.
 *
 * *Security*: directories 0700, files 0600, not encrypted. Links below the directory are refused, wherever they lead.
 */
export class FileHistoryStore implements HistoryStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: HistoryCapabilities;

  readonly #calls: EngineCalls<ConversationFiles>;

  /**
   * Checks the options, and begins to load what works on the files; reads and makes none.
   *
   * @throws `configuration` naming the option and the rule, `unsupported` for `ttlSeconds` and `maxRecords`.
   */
  constructor(options: FileHistoryStoreOptions) {
    const settings = resolveOptions(options);
    this.capabilities = {
      dedupe: settings.dedupeWindow,
      processes: "many",
      conditionalAppend: true,
      replace: true,
      list: true,
      ttl: false,
      maxRecords: false,
      maxRecordBytes: settings.maxRecordBytes,
    };
    this.#calls = new EngineCalls({
      provider: PROVIDER,
      timeoutMs: settings.timeoutMs,
      load: async () => new (await engineSource.load()).ConversationFiles(settings),
      failureOf: fileFailure,
    });
  }

  async append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    assertCallOptions(options);
    const ownKey = ownHistoryKey(key);
    const turn = ownHistoryRecords(records, this.capabilities.maxRecordBytes);
    const { ifVersion, signal } = options;
    if (turn.length === 0) {
      const { version } = await this.read(ownKey, { last: 1, onCorrupt: "skip", signal });
      return { version, appended: 0 };
    }
    return this.#calls.run("write", "append", signal, (files, progress) =>
      files.append(ownKey, turn, ifVersion, progress),
    );
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    const ownKey = ownHistoryKey(key);
    const wanted = ownReadOptions(options);
    return this.#calls.run("read", "read", wanted.signal, (files) => files.read(ownKey, wanted));
  }

  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    assertCallOptions(options);
    const ownKey = ownHistoryKey(key);
    await this.#calls.run("write", "clear", options.signal, (files, progress) => files.clear(ownKey, progress));
  }

  async replace(
    key: HistoryKey,
    range: { readonly fromId: string; readonly throughId: string },
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string }> {
    assertCallOptions(options);
    const ownKey = ownHistoryKey(key);
    const replacement = {
      ...assertRange(range),
      records: ownHistoryRecords(records, this.capabilities.maxRecordBytes),
    };
    const { ifVersion, signal } = options;
    return this.#calls.run("write", "replace", signal, (files, progress) =>
      files.replace(ownKey, replacement, ifVersion, progress),
    );
  }

  async list(filter: HistoryListFilter, options: HistoryListOptions = {}): Promise<HistoryList> {
    const ownFilter = ownListFilter(filter);
    const wanted = ownListOptions(options);
    return this.#calls.run("read", "list", wanted.signal, (files, progress) =>
      files.list({ ...wanted, filter: ownFilter, progress }),
    );
  }

  /**
   * Waits for writes under way, then closes the files that are kept open.
   *
   * @throws `timeout` when a write does not end; the files are closed as soon as it does.
   */
  async close(): Promise<void> {
    await this.#calls.close((files) => files.close());
  }
}
