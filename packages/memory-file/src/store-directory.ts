import { FileProblem } from "@agentfw/core/backend";
import type { Directories } from "./directories.ts";
import { lstat } from "./file-calls.ts";
import type { Locks } from "./locks.ts";
import { STORE_DIRECTORY } from "./names.ts";
import { makeIn, type OpenDirectory, using } from "./open-directory.ts";
import { UnfinishedFile } from "./unfinished-file.ts";

/** The directory of locks and unfinished files, made at the first write. */
export class StoreDirectory {
  readonly #directories: Directories;
  readonly #locks: Locks;
  #isSwept = false;

  constructor(directories: Directories, locks: Locks) {
    this.#directories = directories;
    this.#locks = locks;
  }

  /** Opens it. The first time, what dead writers left in it is removed. */
  async open(): Promise<OpenDirectory> {
    const root = await this.#directories.rootForWriting();
    return using(root, async () => {
      let store = await root.enter(STORE_DIRECTORY);
      if (store === undefined) {
        await makeIn(root, STORE_DIRECTORY);
        store = await root.enter(STORE_DIRECTORY);
      }
      if (store === undefined) {
        throw new FileProblem("ENOTDIR", "the directory of the store cannot be made");
      }
      if (!this.#isSwept) {
        this.#isSwept = true;
        // Neither is a reason to fail a write; the next store tries again.
        await hideFromGit(store).catch(() => undefined);
        await this.#locks.sweep(store).catch(() => undefined);
      }
      return store;
    });
  }
}

/** What is in there means nothing to another machine. Not done with the directory, because a crash may part the two. */
async function hideFromGit(store: OpenDirectory): Promise<void> {
  if ((await lstat(store.at(".gitignore"))) !== undefined) {
    return;
  }
  const file = await UnfinishedFile.write(store, Buffer.from("*\n"), false);
  try {
    await file.moveTo(store, ".gitignore");
  } finally {
    await file.close();
  }
}
