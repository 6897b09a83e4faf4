import { dirname } from "node:path";
import {
  type HistoryKey,
  type HistoryList,
  type HistoryPage,
  type HistoryRecord,
  isAgentFrameworkError,
  type ReadOptions,
} from "@agentfw/core";
import { type CallProgress, KeyedQueue } from "@agentfw/core/backend";
import { type Appended, appendTurn, createConversation, currentVersion, type WriteContext } from "./appending.ts";
import { Directories } from "./directories.ts";
import { conflictError } from "./errors.ts";
import { unlink } from "./file-calls.ts";
import { type Listing, listConversations } from "./listing.ts";
import { WriterLocks } from "./lock.ts";
import { OpenFiles, type Place } from "./open-files.ts";
import type { Settings } from "./options.ts";
import { absentPage, readPage } from "./reading.ts";
import { type Replacement, replaceRun } from "./replacing.ts";
import { TornTails } from "./torn-tails.ts";

/**
 * The files of a store and all that is done with them. Its callers have checked what was passed and made it their own;
 * they see to the deadline, and `progress` tells how far they are.
 */
export class ConversationFiles {
  readonly #settings: Settings;
  readonly #directories: Directories;
  readonly #files: OpenFiles;
  readonly #queue = new KeyedQueue();
  readonly #locks: WriterLocks;
  readonly #tornTails: TornTails;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#directories = new Directories(settings.root, settings.fsync);
    this.#files = new OpenFiles(this.#directories);
    this.#locks = new WriterLocks(this.#directories, settings.onDiagnostic);
    this.#tornTails = new TornTails(settings.onDiagnostic);
  }

  append(
    key: HistoryKey,
    turn: readonly HistoryRecord[],
    ifVersion: string | undefined,
    progress: CallProgress,
  ): Promise<Appended> {
    return this.#write(this.#files.place(key), ifVersion, progress, async (context) => {
      const appended = await this.#files.use(context.place, "append", (found) => appendTurn(found, turn, context));
      return appended ?? createConversation(turn, context);
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

  /**
   * Removes the file, in one step, and the directories that are empty then. Readers that have it open keep what they are reading.
   *
   * @throws `unsupported` for a file of a later version, which is left as it is. A damaged one is removed.
   */
  async clear(key: HistoryKey, progress: CallProgress): Promise<void> {
    const place = this.#files.place(key);
    if (await this.#files.isAbsent(place)) {
      return;
    }
    await this.#write(place, undefined, progress, async ({ lock }) => {
      try {
        await this.#files.use(place, "read", async () => undefined);
      } catch (error) {
        if (!isAgentFrameworkError(error, "corrupt")) {
          throw error;
        }
      }
      lock.beforeChange();
      await unlink(place.file);
      this.#files.forget(place);
      await this.#directories.sync(dirname(place.file));
    });
    await this.#directories.prune(place.path);
  }

  /** @throws `conflict` when there is no conversation, and what {@link replaceRun} throws. */
  async replace(
    key: HistoryKey,
    replacement: Replacement,
    ifVersion: string | undefined,
    progress: CallProgress,
  ): Promise<{ version: string }> {
    const place = this.#files.place(key);
    const version = (await this.#files.isAbsent(place))
      ? undefined
      : await this.#write(place, ifVersion, progress, async (context) => {
          await this.#files.use(place, "read", (found) => replaceRun(found, replacement, context));
          // Nothing found now is nothing found before: whoever writes the conversation waits for this call.
          return this.#files.use(place, "read", (found) => currentVersion(found, this.#settings.dedupeWindow));
        });
    if (version === undefined) {
      throw conflictError("range.fromId: there is no conversation", "");
    }
    return { version };
  }

  async list(listing: Listing): Promise<HistoryList> {
    await this.#directories.assertAbsenceIsReal();
    return listConversations(this.#directories, listing);
  }

  /** Waits for writes under way, gives up this writer's name, and closes the files that are kept open. */
  async close(): Promise<void> {
    this.#files.closeAll();
    await this.#queue.settled();
    await this.#locks.close();
    this.#files.closeAll();
  }

  async #readOnce(place: Place, options: ReadOptions): Promise<HistoryPage> {
    const page = await this.#files.use(place, "read", (found) => readPage(found, place, options, this.#tornTails));
    return page ?? absentPage(options);
  }

  /** Gives a conversation to one write at a time: first among the calls of this process, in their order, then among processes. */
  #write<T>(
    place: Place,
    ifVersion: string | undefined,
    progress: CallProgress,
    work: (context: WriteContext) => Promise<T>,
  ): Promise<T> {
    return this.#queue.run(place.file, async () => {
      progress.assertWanted();
      if (!this.#files.knows(place)) {
        // A lock behind a link would be made outside of the store.
        await this.#directories.assertPlain(place.path);
      }
      const lock = await this.#locks.acquire(place, progress);
      try {
        return await work({
          place,
          ifVersion,
          lock,
          settings: this.#settings,
          directories: this.#directories,
          tornTails: this.#tornTails,
        });
      } finally {
        await lock.release();
      }
    });
  }
}
