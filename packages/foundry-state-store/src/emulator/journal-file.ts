import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { ifThere } from "../if-there.ts";
import { syncDirectory } from "../sync-directory.ts";

/** The right to write in a folder. */
export interface FolderHold {
  /** Throws when the right was lost, which happens to a process that was stopped for long. */
  assert(): void;
  release(): Promise<void>;
}

/** One file, written to in order. */
export class JournalFile {
  readonly #path: string;
  readonly #hold: FolderHold;
  #isThere = false;
  #handle: FileHandle | undefined;
  /** True when the last line may be a part of one. Then the file is written anew, or the next line would go on with it. */
  #isTorn = false;
  #end: Promise<unknown> = Promise.resolve();

  constructor(path: string, hold: FolderHold) {
    this.#path = path;
    this.#hold = hold;
  }

  /** Puts lines in place of all that is there, in one step. */
  create(whole: () => readonly string[]): Promise<void> {
    return this.#queued(() => {
      this.#isThere = true;
      return this.#rewrite(whole());
    });
  }

  /** Adds a line. `whole` gives all lines, this one included. */
  append(line: string, whole: () => readonly string[]): Promise<void> {
    return this.#queued(async () => {
      this.#hold.assert();
      if (!this.#isThere) {
        return;
      }
      if (this.#handle === undefined || this.#isTorn) {
        await this.#rewrite(whole());
        return;
      }
      this.#isTorn = true;
      await this.#handle.appendFile(`${line}\n`);
      await this.#handle.datasync();
      this.#isTorn = false;
    });
  }

  remove(): Promise<void> {
    return this.#queued(async () => {
      this.#hold.assert();
      this.#isThere = false;
      await this.#close();
      await ifThere(unlink(this.#path));
      await syncDirectory(dirname(this.#path));
    });
  }

  close(): Promise<void> {
    return this.#queued(() => this.#close());
  }

  async #rewrite(lines: readonly string[]): Promise<void> {
    this.#hold.assert();
    const temporary = `${this.#path}.tmp`;
    const handle = await open(temporary, "w", 0o600);
    try {
      await handle.writeFile(lines.map((line) => `${line}\n`).join(""));
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await this.#close();
    await rename(temporary, this.#path);
    await syncDirectory(dirname(this.#path));
    this.#handle = await open(this.#path, "a", 0o600);
    this.#isTorn = false;
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  #queued(task: () => Promise<void>): Promise<void> {
    const result = this.#end.then(task);
    this.#end = result.catch(() => undefined);
    return result;
  }
}
