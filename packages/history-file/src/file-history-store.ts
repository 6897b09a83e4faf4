import {
  type AppendOptions,
  assertCallOptions,
  assertCount,
  assertHistoryKey,
  assertHistoryRecords,
  assertListFilter,
  assertName,
  assertReadOptions,
  type CallOptions,
  configurationError,
  type HistoryCapabilities,
  type HistoryKey,
  type HistoryList,
  type HistoryListFilter,
  type HistoryListOptions,
  type HistoryPage,
  type HistoryRecord,
  type HistoryStore,
  isAgentFrameworkError,
  type ReadOptions,
  withDeadline,
} from "@agentfw/core";
import { type Appended, appendTurn, createConversation, type WriteContext } from "./appending.ts";
import { clearConversation } from "./clearing.ts";
import { Directories } from "./directories.ts";
import { conflictError, PROVIDER, toFrameworkError } from "./errors.ts";
import { ExclusiveWrites, Progress, type WriteAccess } from "./exclusive-writes.ts";
import { listConversations } from "./listing.ts";
import { type FoundFile, OpenFiles, type Place } from "./open-files.ts";
import { type FileHistoryStoreOptions, resolveOptions, type Settings } from "./options.ts";
import { absentPage, readPage, versionOf } from "./reading.ts";
import { replaceRun } from "./replacing.ts";
import { loadTail } from "./tail.ts";
import { TornTails } from "./torn-tails.ts";

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

  readonly #settings: Settings;
  readonly #directories: Directories;
  readonly #files: OpenFiles;
  readonly #writes: ExclusiveWrites;
  readonly #tornTails: TornTails;

  /**
   * Checks the options; reads and makes nothing.
   *
   * @throws `configuration` naming the option and the rule, `unsupported` for `ttlSeconds` and `maxRecords`.
   */
  constructor(options: FileHistoryStoreOptions) {
    this.#settings = resolveOptions(options);
    const { root, fsync, dedupeWindow, maxRecordBytes, onDiagnostic } = this.#settings;
    this.capabilities = {
      dedupe: dedupeWindow,
      processes: "many",
      conditionalAppend: true,
      replace: true,
      list: true,
      ttl: false,
      maxRecords: false,
      maxRecordBytes,
    };
    this.#directories = new Directories(root, fsync);
    this.#files = new OpenFiles(this.#directories);
    this.#writes = new ExclusiveWrites(this.#settings, this.#directories, this.#files);
    this.#tornTails = new TornTails(onDiagnostic);
  }

  async append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    assertCallOptions(options);
    const place = this.#place(key);
    const turn = this.#copy(records);
    if (turn.length === 0) {
      const { version } = await this.read(key, { last: 1, onCorrupt: "skip", signal: options.signal });
      return { version, appended: 0 };
    }
    return this.#writes.run({
      operation: "append",
      place,
      signal: options.signal,
      work: async (access): Promise<Appended> => {
        const context = this.#context(place, options, access);
        const appended = await this.#files.use(place, "append", (found) => appendTurn(found, turn, context));
        return appended ?? createConversation(turn, context);
      },
    });
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    const place = this.#place(key);
    assertReadOptions(options);
    return this.#guard("read", options.signal, async () => {
      try {
        const page = await this.#readOnce(place, options);
        if (page.corrupt === undefined || page.corrupt.length === 0) {
          return page;
        }
      } catch (error) {
        if (!isAgentFrameworkError(error, "corrupt")) {
          throw error;
        }
      }
      // A turn that its writer takes back while it is read looks damaged, and does not the second time.
      return this.#readOnce(place, options);
    });
  }

  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    assertCallOptions(options);
    const place = this.#place(key);
    const { signal } = options;
    if (await this.#guard("clear", signal, () => this.#files.isAbsent(place))) {
      return;
    }
    await this.#writes.run({
      operation: "clear",
      place,
      signal,
      work: ({ beforeChange }) => clearConversation(this.#files, this.#directories, place, beforeChange),
      afterwards: () => this.#directories.prune(place.path),
    });
  }

  async replace(
    key: HistoryKey,
    range: { readonly fromId: string; readonly throughId: string },
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string }> {
    assertCallOptions(options);
    const place = this.#place(key);
    const replacement = { ...copyRange(range), records: this.#copy(records) };
    const { signal } = options;
    if (await this.#guard("replace", signal, () => this.#files.isAbsent(place))) {
      throw conflictError("range.fromId: there is no conversation", "");
    }
    return this.#writes.run({
      operation: "replace",
      place,
      signal,
      work: async (access) => {
        const context = { ...this.#context(place, options, access), ...access };
        await this.#files.use(place, "read", (found) => replaceRun(found, replacement, context));
        // Nothing found now is nothing found before: whoever writes the conversation waits for this call.
        const version = await this.#files.use(place, "read", (found) => this.#currentVersion(found));
        if (version === undefined) {
          throw conflictError("range.fromId: there is no conversation", "");
        }
        return { version };
      },
    });
  }

  async list(filter: HistoryListFilter, options: HistoryListOptions = {}): Promise<HistoryList> {
    assertCallOptions(options);
    assertListFilter(filter);
    const { limit = 100, cursor, signal } = options;
    assertCount(limit, "limit", 1);
    if (cursor !== undefined) {
      assertName(cursor, "cursor");
    }
    return this.#guard("list", signal, async (assertWanted) => {
      await this.#directories.assertAbsenceIsReal();
      return listConversations(this.#directories, { filter, limit, cursor, assertWanted });
    });
  }

  /**
   * Waits for writes under way, then closes the files that are kept open. A later call opens them again.
   *
   * @throws `timeout` when a write does not end; the files are closed as soon as it does.
   */
  async close(): Promise<void> {
    await this.#guard("close", undefined, async () => {
      this.#files.closeAll();
      await this.#writes.close();
      this.#files.closeAll();
    });
  }

  async #readOnce(place: Place, options: ReadOptions): Promise<HistoryPage> {
    const result = await this.#files.use(place, "read", (found) => readPage(found, place, options));
    if (result !== undefined && result.tornBytes > 0) {
      await this.#tornTails.read(place, result.end, result.tornBytes);
    }
    return result?.page ?? absentPage(options);
  }

  async #currentVersion(found: FoundFile): Promise<string> {
    const { end, fingerprint } = await loadTail(found, this.#settings.dedupeWindow);
    return versionOf(found.file, end, fingerprint);
  }

  #place(key: HistoryKey): Place {
    assertHistoryKey(key);
    return this.#files.place(key);
  }

  /** A copy, because the caller may change its own while the call waits. */
  #copy(records: readonly HistoryRecord[]): readonly HistoryRecord[] {
    assertHistoryRecords(records, this.#settings.maxRecordBytes);
    return records.map(({ id, data }) => ({ id, data }));
  }

  #context(place: Place, options: AppendOptions, { beforeChange }: WriteAccess): WriteContext {
    const { fsync, dedupeWindow } = this.#settings;
    return {
      place,
      directories: this.#directories,
      fsync,
      dedupeWindow,
      ifVersion: options.ifVersion,
      beforeChange,
      onTorn: (end, bytes) => this.#tornTails.cut(place, end, bytes),
    };
  }

  /** Every call that is no write goes through here. `work` may ask whether someone still waits for it. */
  async #guard<T>(
    operation: string,
    signal: AbortSignal | undefined,
    work: (assertWanted: () => void) => Promise<T>,
  ): Promise<T> {
    const progress = new Progress();
    try {
      const { timeoutMs } = this.#settings;
      const deadline = { kind: "read", provider: PROVIDER, timeoutMs, signal } as const;
      return await withDeadline(operation, deadline, () => work(() => progress.assertWanted()));
    } catch (error) {
      progress.isGivenUp = true;
      throw toFrameworkError(error, operation);
    }
  }
}

function copyRange(range: { readonly fromId: string; readonly throughId: string }): {
  fromId: string;
  throughId: string;
} {
  if (typeof range !== "object" || range === null) {
    throw configurationError("range", "must name fromId and throughId");
  }
  const { fromId, throughId } = range;
  assertName(fromId, "range.fromId");
  assertName(throughId, "range.throughId");
  return { fromId, throughId };
}
