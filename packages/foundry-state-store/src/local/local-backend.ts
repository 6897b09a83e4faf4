import { type CallOptions, configurationError, withDeadline } from "@agentfw/core";
import type { Backend, ItemCall, ItemWrite, KeysQuery, RawItem } from "../backend.ts";
import { decodeCursor, encodeCursor } from "../data/cursor.ts";
import type { Listed, Moment, Partition, Position, StoredItem, WriteResult } from "../data/partition.ts";
import { StoreData, type StoreRecord } from "../data/store-data.ts";
import { PROVIDER, stateError } from "../errors.ts";
import type { OpeningCall } from "../options.ts";
import type { StoreCreation } from "../service/service-backend.ts";
import { timeOf } from "../service/wire.ts";
import type { StateStoreItemKeyPage, StateStoreItemReference, StateStoreProperties, StoreUpdate } from "../types.ts";
import { changeFile, fileError, tidyUp } from "./exclusive-file.ts";
import { encode, ownerName, StoreReader, storeFile } from "./store-file.ts";

/** Where the files are, and when it is. */
export interface LocalSettings {
  /** Absolute. */
  readonly directory: string;
  readonly timeoutMs: number;
  readonly now: () => number;
}

/** How many keys a page has where nobody says. */
const PAGE_SIZE = 20;

/** Items in a file on this machine, shared by its processes. */
export class LocalBackend implements Backend {
  readonly isLocal = true;
  readonly #settings: LocalSettings;
  readonly #path: string;
  readonly #reader: StoreReader;
  /** Apart, because a write changes what it has read before anybody may see it. */
  readonly #writer: StoreReader;

  constructor(name: string, settings: LocalSettings) {
    this.#settings = settings;
    this.#path = storeFile(settings.directory, name);
    this.#reader = new StoreReader(this.#path, name);
    this.#writer = new StoreReader(this.#path, name);
  }

  /** The store, made when it is not there. */
  async getOrCreate(creation: StoreCreation, { signal, endsAt }: OpeningCall): Promise<StateStoreProperties> {
    await tidyUp(this.#path);
    const found = await this.#read("getOrCreate", { signal, timeoutMs: timeUntil(endsAt) }, (store) => store);
    if (found !== undefined) {
      return propertiesOf(found.record);
    }
    return this.#write("getOrCreate", { signal, timeoutMs: timeUntil(endsAt) }, async (store, save) => {
      const { description, tags = {} } = creation;
      const made =
        store ?? StoreData.create({ ...creation, description: description ?? null, tags }, this.#settings.now());
      if (store === undefined) {
        await save(made);
      }
      return propertiesOf(made.record);
    });
  }

  createItem(call: ItemCall, { text, tags = {} }: ItemWrite): Promise<StateStoreItemReference> {
    return this.#change("createItem", call, (partition, moment) => {
      const result = partition.create({ key: call.key, text, tags }, moment);
      return writtenOr("createItem", result);
    });
  }

  setItem(call: ItemCall, { text, tags = {}, ifMatch }: ItemWrite): Promise<StateStoreItemReference> {
    return this.#change("setItem", call, (partition, moment) => {
      const result = partition.set({ key: call.key, text, tags, ifMatch }, moment);
      return writtenOr("setItem", result);
    });
  }

  async getItem(call: ItemCall): Promise<RawItem | undefined> {
    const { now } = this.#settings;
    const item = await this.#read("getItem", call, (store) =>
      store?.partition(ownerName(call.owner)).get(call.key, now()),
    );
    return item === undefined ? undefined : { ...referenceOf(item), text: item.text, tags: item.tags };
  }

  async deleteItem(call: ItemCall, ifMatch: string | undefined): Promise<string | undefined> {
    return this.#change("deleteItem", call, (partition, { now }) => {
      const result = partition.delete(call.key, now, ifMatch);
      if (result.outcome === "mismatch") {
        throw stateError("conflict", "deleteItem: the etag does not match", { currentVersion: result.etag });
      }
      return { value: result.outcome === "deleted" ? result.id : undefined, isChanged: result.outcome === "deleted" };
    });
  }

  listItemKeys(call: Omit<ItemCall, "key">, query: KeysQuery): Promise<StateStoreItemKeyPage> {
    const { tags, order, limit = PAGE_SIZE } = query;
    return this.#read("listItemKeys", call, (store) => {
      const partition = existing("listItemKeys", store).partition(ownerName(call.owner));
      const [after, before] = [
        positionOf(query.after, "after", partition),
        positionOf(query.before, "before", partition),
      ];
      return pageOf(partition.list({ now: this.#settings.now(), limit, order, tags, after, before }));
    });
  }

  getStore({ signal }: CallOptions): Promise<StateStoreProperties> {
    return this.#read("getStore", { signal }, (store) => propertiesOf(existing("getStore", store).record));
  }

  updateStore({ description, tags }: StoreUpdate, { signal }: CallOptions): Promise<StateStoreProperties> {
    return this.#write("updateStore", { signal }, async (store, save) => {
      const found = existing("updateStore", store);
      found.update({ description, tags: tags === null ? {} : tags }, this.#settings.now());
      await save(found);
      return propertiesOf(found.record);
    });
  }

  async deleteStore({ signal }: CallOptions): Promise<boolean> {
    return this.#write("deleteStore", { signal }, async (store, _save, remove) => {
      if (store !== undefined) {
        await remove();
      }
      return store !== undefined;
    });
  }

  /** Reads, with nobody kept waiting. */
  async #read<T>(
    operation: string,
    { signal, timeoutMs = this.#settings.timeoutMs }: LocalCall,
    look: (store: StoreData | undefined) => T,
  ): Promise<T> {
    try {
      return await withDeadline(operation, { kind: "read", provider: PROVIDER, timeoutMs, signal }, async () =>
        look(await this.#reader.read()),
      );
    } catch (error) {
      throw fileError(error, operation);
    }
  }

  #change<T>(
    operation: string,
    call: ItemCall,
    change: (partition: Partition, moment: Moment) => { readonly value: T; readonly isChanged: boolean },
  ): Promise<T> {
    return this.#write(operation, call, async (store, save) => {
      const found = existing(operation, store);
      const now = this.#settings.now();
      const partition = found.partition(ownerName(call.owner));
      const { value, isChanged } = change(partition, { now, ttlSeconds: found.record.itemTtlSeconds });
      if (isChanged) {
        partition.sweep(now);
        await save(found);
      }
      return value;
    });
  }

  /** Reads, changes and writes, with everybody else kept waiting. */
  #write<T>(
    operation: string,
    { signal, timeoutMs = this.#settings.timeoutMs }: LocalCall,
    work: (
      store: StoreData | undefined,
      save: (store: StoreData) => Promise<void>,
      remove: () => Promise<void>,
    ) => Promise<T>,
  ): Promise<T> {
    return changeFile({
      operation,
      path: this.#path,
      timeoutMs,
      signal,
      work: async ({ replace, remove }) => {
        const store = await this.#writer.read();
        this.#writer.forget();
        const save = async (changed: StoreData) => {
          await replace(encode(changed));
          await this.#writer.remember(changed);
        };
        return work(store, save, remove);
      },
    });
  }
}

/** How long a call may take, where that is not as long as any other. */
interface LocalCall extends CallOptions {
  readonly timeoutMs?: number | undefined;
}

/** What is left of a call's time. */
function timeUntil(endsAt: number): number {
  return Math.max(1, Math.ceil(endsAt - performance.now()));
}

function existing(operation: string, store: StoreData | undefined): StoreData {
  if (store === undefined) {
    throw stateError("not_found", `${operation}: there is no such store`);
  }
  return store;
}

function writtenOr(
  operation: string,
  result: WriteResult,
): { readonly value: StateStoreItemReference; readonly isChanged: true } {
  if (result.outcome === "exists" || result.outcome === "mismatch") {
    const reason = result.outcome === "exists" ? "it exists already" : "the etag does not match";
    throw stateError("conflict", `${operation}: ${reason}`, { currentVersion: result.etag });
  }
  return { value: referenceOf(result.item), isChanged: true };
}

function positionOf(cursor: string | undefined, field: string, partition: Partition): Position | undefined {
  const position = cursor === undefined ? undefined : decodeCursor(cursor, (id) => partition.positionOf(id));
  if (cursor !== undefined && position === undefined) {
    throw configurationError(field, "must come from an earlier page");
  }
  return position;
}

function pageOf({ items, hasMore }: Listed): StateStoreItemKeyPage {
  const [first] = items;
  const last = items.at(-1);
  return {
    keys: items.map((item) => ({ ...referenceOf(item), tags: item.tags })),
    firstId: first === undefined ? undefined : encodeCursor(first),
    lastId: last === undefined ? undefined : encodeCursor(last),
    hasMore,
  };
}

function referenceOf({ id, key, etag, createdAt, updatedAt }: StoredItem): StateStoreItemReference {
  return { id, key, etag, createdAt: timeOf(createdAt), updatedAt: timeOf(updatedAt) };
}

function propertiesOf(record: StoreRecord): StateStoreProperties {
  const { id, name, userIsolation, itemTtlSeconds, description, tags, createdAt, updatedAt } = record;
  return Object.freeze({
    id,
    name,
    userIsolation,
    itemTtlSeconds,
    description: description ?? undefined,
    tags,
    createdAt: timeOf(createdAt),
    updatedAt: timeOf(updatedAt),
  });
}
