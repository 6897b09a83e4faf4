import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { isPlainObject } from "@agentfw/core";
import { parseObject } from "@agentfw/core/backend";
import { Partition, type StoredItem } from "../data/partition.ts";
import { StoreData } from "../data/store-data.ts";
import { parseItem, parseRecord } from "../data/stored-form.ts";
import { stateError } from "../errors.ts";
import { ifThere } from "../if-there.ts";

const FORMAT = "agentfw-state-store";

const VERSION = 1;

/** The file of a store. Its name says nothing about the store's: any name has a file, on any file system. */
export function storeFile(directory: string, name: string): string {
  return join(directory, `${createHash("sha256").update(name, "utf8").digest("hex").slice(0, 32)}.json`);
}

/** A store as it was read, and what tells whether the file is still the same. */
interface Read {
  readonly stamp: string;
  readonly data: StoreData;
}

/** Reads the file of one store, and again only when it has changed. */
export class StoreReader {
  readonly #path: string;
  readonly #name: string;
  #last: Read | undefined;

  constructor(path: string, name: string) {
    this.#path = path;
    this.#name = name;
  }

  /**
   * The store, or `undefined` when there is none. A file that is replaced meanwhile stays whole for whoever has it open.
   *
   * @throws `corrupt`, `unsupported` for a file of a later version
   */
  async read(): Promise<StoreData | undefined> {
    const file = await ifThere(open(this.#path, "r"));
    if (file === undefined) {
      return undefined;
    }
    try {
      const stamp = stampOf(await file.stat({ bigint: true }));
      if (this.#last?.stamp !== stamp) {
        this.#last = { stamp, data: decode(await file.readFile("utf8"), this.#name) };
      }
      return this.#last.data;
    } finally {
      await file.close();
    }
  }

  /** Forgets what was read: it is about to be changed in memory, and the change may fail. */
  forget(): void {
    this.#last = undefined;
  }

  /** What the file holds now. Only for whoever has just written it and still keeps others out. */
  async remember(data: StoreData): Promise<void> {
    this.#last = { stamp: stampOf(await stat(this.#path, { bigint: true })), data };
  }
}

function stampOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs].join(" ");
}

/** A line for each item, so that a person can look at it. */
export function encode({ record, partitions }: StoreData): string {
  const parts = [...partitions]
    .filter(([, { items }]) => items.length > 0)
    .map(([owner, { items }]) => `{"owner":${owner},"items":[\n${items.map(textOf).join(",\n")}\n]}`);
  const head = JSON.stringify({ format: FORMAT, version: VERSION, store: record });
  return `${head.slice(0, -1)},"partitions":[\n${parts.join(",\n")}\n]}\n`;
}

function textOf(item: StoredItem): string {
  return JSON.stringify(item);
}

function decode(text: string, name: string): StoreData {
  const file = parseObject(text);
  if (file?.["format"] !== FORMAT) {
    throw corrupt("the file");
  }
  if (file["version"] !== VERSION) {
    throw stateError("unsupported", "the file of the store is of another version");
  }
  const record = parseRecord(file["store"]);
  const { partitions } = file;
  if (record?.name !== name || !Array.isArray(partitions)) {
    throw corrupt("the store");
  }
  const data = new StoreData(record);
  for (const [index, partition] of partitions.entries()) {
    const { owner, items } = isPlainObject(partition) ? partition : {};
    if ((owner !== null && typeof owner !== "string") || !Array.isArray(items)) {
      throw corrupt(`partition ${index}`);
    }
    const decoded = items.map((item, place) => parseItem(item) ?? raise(corrupt(`partition ${index}, item ${place}`)));
    data.partitions.set(ownerName(owner), new Partition(decoded));
  }
  return data;
}

/** Which partition is whose: nobody's is `null`, and never the text "null". */
export function ownerName(owner: string | null): string {
  return JSON.stringify(owner);
}

function corrupt(position: string): Error {
  return stateError("corrupt", "the file of the store cannot be read", { position });
}

function raise(error: Error): never {
  throw error;
}
