import { createHash } from "node:crypto";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseObject } from "@agentfw/core/backend";
import { lock } from "proper-lockfile";
import type { Partition, StoredItem } from "../data/partition.ts";
import { StoreData } from "../data/store-data.ts";
import { parseItem, parseRecord } from "../data/stored-form.ts";
import { stateError } from "../errors.ts";
import { lockFileSystem } from "../lock-file-system.ts";
import { type FolderHold, JournalFile } from "./journal-file.ts";

/** A change of one item. */
export type ItemChange = { readonly user: string } & ({ readonly put: StoredItem } | { readonly remove: string });

/** Where changes are noted. A call resolves when the change will be there after a crash. */
export interface Journal {
  created(project: string, store: StoreData): Promise<void>;
  updated(project: string, store: StoreData): Promise<void>;
  deleted(project: string, name: string): Promise<void>;
  changed(project: string, store: StoreData, change: ItemChange): Promise<void>;
  close(): Promise<void>;
}

/** Notes nothing: the emulator forgets when it ends. */
export const memoryJournal: Journal = {
  created: async () => {},
  updated: async () => {},
  deleted: async () => {},
  changed: async () => {},
  close: async () => {},
};

/**
 * A file of JSON lines for each store: its record first, then a line for each change. A line counts when it is whole; one
 * that a crash left unfinished is cut off at the next start, when the file is also written anew without what is over.
 */
export class FolderJournal implements Journal {
  readonly #directory: string;
  readonly #hold: FolderHold;
  readonly #files = new Map<string, JournalFile>();

  private constructor(directory: string, hold: FolderHold) {
    this.#directory = directory;
    this.#hold = hold;
  }

  /**
   * Opens a folder, for this process alone, and gives what is in it.
   *
   * @throws `conflict` when another emulator has it; `corrupt` naming file and line.
   */
  static async open(
    directory: string,
    now: number,
  ): Promise<{ journal: FolderJournal; projects: Map<string, Map<string, StoreData>> }> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const journal = new FolderJournal(directory, await takeFolder(directory));
    const projects = new Map<string, Map<string, StoreData>>();
    try {
      for (const name of (await readdir(directory)).filter((file) => file.endsWith(".jsonl")).sort()) {
        const { project, store } = await readStore(join(directory, name), name);
        if (name !== fileName(project, store.record.name)) {
          // A copy beside the original would bring back what was deleted since.
          throw corruptLine(name, 1);
        }
        for (const partition of store.partitions.values()) {
          partition.sweep(now);
        }
        projects.set(project, (projects.get(project) ?? new Map<string, StoreData>()).set(store.record.name, store));
        await journal.created(project, store);
      }
    } catch (error) {
      await journal.close();
      throw error;
    }
    return { journal, projects };
  }

  async created(project: string, store: StoreData): Promise<void> {
    await this.#of(project, store.record.name).create(() => linesOf(project, store));
  }

  async updated(project: string, store: StoreData): Promise<void> {
    await this.#of(project, store.record.name).append(headLine(project, store), () => linesOf(project, store));
  }

  async deleted(project: string, name: string): Promise<void> {
    await this.#of(project, name).remove();
  }

  async changed(project: string, store: StoreData, change: ItemChange): Promise<void> {
    await this.#of(project, store.record.name).append(JSON.stringify(change), () => linesOf(project, store));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => file.close()));
    this.#files.clear();
    await this.#hold.release();
  }

  /** One for each name, also after a delete: what follows a delete must not overtake it. */
  #of(project: string, name: string): JournalFile {
    const path = fileName(project, name);
    const file = this.#files.get(path) ?? new JournalFile(join(this.#directory, path), this.#hold);
    this.#files.set(path, file);
    return file;
  }
}

/** Waits for an emulator that has just died: its lock is given up when nobody renews it. */
async function takeFolder(directory: string): Promise<FolderHold> {
  let isLost = false;
  let isHeld = false;
  const staleMs = 5_000;
  const release = await lock(directory, {
    fs: lockFileSystem({ staleMs, isHeld: () => isHeld, isSure: () => isHeld && !isLost }),
    stale: staleMs,
    retries: { retries: 14, minTimeout: 500, maxTimeout: 500 },
    onCompromised: () => {
      isLost = true;
    },
  }).catch((cause: unknown) => {
    throw stateError("conflict", "dataDirectory: another emulator uses this folder", { cause });
  });
  isHeld = true;
  return {
    assert() {
      if (isLost) {
        throw stateError("conflict", "dataDirectory: another emulator may have taken this folder");
      }
    },
    release: async () => (isLost ? undefined : release()),
  };
}

async function readStore(path: string, name: string): Promise<{ project: string; store: StoreData }> {
  const text = await readFile(path, "utf8");
  // Behind the last line feed is what a crash left unfinished, or nothing.
  const [first = "", ...rest] = text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .slice(0, -1);
  const head = objectOf(first, name, 1);
  const record = parseRecord(head["store"]);
  const { project } = head;
  if (record === undefined || typeof project !== "string") {
    throw corruptLine(name, 1);
  }
  const store = new StoreData(record);
  for (const [index, line] of rest.entries()) {
    applyLine(store, objectOf(line, name, index + 2), () => corruptLine(name, index + 2));
  }
  return { project, store };
}

function applyLine(store: StoreData, line: Readonly<Record<string, unknown>>, corrupt: () => Error): void {
  const { user, put, remove, store: record } = line;
  if (record !== undefined) {
    const parsed = parseRecord(record);
    if (parsed === undefined) {
      throw corrupt();
    }
    store.record = parsed;
    return;
  }
  const partition: Partition | undefined = typeof user === "string" ? store.partition(user) : undefined;
  const item = parseItem(put);
  if (partition !== undefined && item !== undefined) {
    partition.put(item);
  } else if (partition !== undefined && typeof remove === "string") {
    partition.remove(remove);
  } else {
    throw corrupt();
  }
}

function objectOf(line: string, name: string, number: number): Readonly<Record<string, unknown>> {
  const value = parseObject(line);
  if (value === undefined) {
    throw corruptLine(name, number);
  }
  return value;
}

function corruptLine(name: string, number: number): Error {
  return stateError("corrupt", "a line of the emulator's data cannot be read", { position: `${name}, line ${number}` });
}

function headLine(project: string, store: StoreData): string {
  return JSON.stringify({ project, store: store.record });
}

function linesOf(project: string, store: StoreData): string[] {
  const items = [...store.partitions].flatMap(([user, partition]) =>
    partition.items.map((put) => JSON.stringify({ user, put })),
  );
  return [headLine(project, store), ...items];
}

function fileName(project: string, name: string): string {
  return `${createHash("sha256")
    .update(JSON.stringify([project, name]))
    .digest("hex")
    .slice(0, 32)}.jsonl`;
}
