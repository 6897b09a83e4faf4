import {
  type HistoryKey,
  type HistoryList,
  type HistoryPage,
  type HistoryRecord,
  isAgentFrameworkError,
  type ReadOptions,
} from "@agentfw/core";
import { type Appended, appendTurn, createConversation, type WriteContext } from "./appending.ts";
import type { Progress } from "./calls.ts";
import { clearConversation } from "./clearing.ts";
import { Directories } from "./directories.ts";
import { conflictError, toFrameworkError } from "./errors.ts";
import { ExclusiveWrites, type WriteAccess } from "./exclusive-writes.ts";
import { type Listing, listConversations } from "./listing.ts";
import { type FoundFile, OpenFiles, type Place } from "./open-files.ts";
import type { Settings } from "./options.ts";
import { absentPage, readPage, versionOf } from "./reading.ts";
import { type Replacement, replaceRun } from "./replacing.ts";
import { loadTail } from "./tail.ts";
import { TornTails } from "./torn-tails.ts";

/**
 * The files of a store and all that is done with them. Its callers have checked what was passed and made it their own;
 * they see to the deadline, and `progress` tells how far they are.
 */
export class ConversationFiles {
  readonly #settings: Settings;
  readonly #directories: Directories;
  readonly #files: OpenFiles;
  readonly #writes: ExclusiveWrites;
  readonly #tornTails: TornTails;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#directories = new Directories(settings.root, settings.fsync);
    this.#files = new OpenFiles(this.#directories);
    this.#writes = new ExclusiveWrites(settings, this.#directories, this.#files);
    this.#tornTails = new TornTails(settings.onDiagnostic);
  }

  append(
    key: HistoryKey,
    turn: readonly HistoryRecord[],
    ifVersion: string | undefined,
    progress: Progress,
  ): Promise<Appended> {
    const place = this.#files.place(key);
    return this.#writes.run({
      place,
      progress,
      work: async (access) => {
        const context = this.#context(place, ifVersion, access);
        const appended = await this.#files.use(place, "append", (found) => appendTurn(found, turn, context));
        return appended ?? createConversation(turn, context);
      },
    });
  }

  async read(key: HistoryKey, options: ReadOptions): Promise<HistoryPage> {
    const place = this.#files.place(key);
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
  }

  /** True when no file is there, and really none: a link or a store that is out of reach rejects. */
  isAbsent(key: HistoryKey): Promise<boolean> {
    return this.#files.isAbsent(this.#files.place(key));
  }

  /** @throws `conflict` when there is no file, and really none. */
  async assertPresent(key: HistoryKey): Promise<void> {
    if (await this.isAbsent(key)) {
      throw absentError();
    }
  }

  clear(key: HistoryKey, progress: Progress): Promise<void> {
    const place = this.#files.place(key);
    return this.#writes.run({
      place,
      progress,
      work: ({ beforeChange }) => clearConversation(this.#files, this.#directories, place, beforeChange),
      afterwards: () => this.#directories.prune(place.path),
    });
  }

  replace(
    key: HistoryKey,
    replacement: Replacement,
    ifVersion: string | undefined,
    progress: Progress,
  ): Promise<{ version: string }> {
    const place = this.#files.place(key);
    return this.#writes.run({
      place,
      progress,
      work: async (access) => {
        const context = this.#context(place, ifVersion, access);
        await this.#files.use(place, "read", (found) => replaceRun(found, replacement, context));
        // Nothing found now is nothing found before: whoever writes the conversation waits for this call.
        const version = await this.#files.use(place, "read", (found) => this.#currentVersion(found));
        if (version === undefined) {
          throw absentError();
        }
        return { version };
      },
    });
  }

  async list(listing: Listing): Promise<HistoryList> {
    await this.#directories.assertAbsenceIsReal();
    return listConversations(this.#directories, listing);
  }

  /** Waits for writes under way, then closes the files that are kept open. */
  async close(): Promise<void> {
    this.#files.closeAll();
    await this.#writes.close();
    this.#files.closeAll();
  }

  /** What callers see of an error. */
  explain(error: unknown, operation: string): unknown {
    return toFrameworkError(error, operation);
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

  #context(place: Place, ifVersion: string | undefined, access: WriteAccess): WriteContext {
    const { temporaryFile, beforeChange, renew } = access;
    const { fsync, dedupeWindow } = this.#settings;
    return {
      temporaryFile,
      beforeChange,
      renew,
      place,
      directories: this.#directories,
      fsync,
      dedupeWindow,
      ifVersion,
      onTorn: (end, bytes) => this.#tornTails.cut(place, end, bytes),
    };
  }
}

function absentError(): Error {
  return conflictError("range.fromId: there is no conversation", "");
}
