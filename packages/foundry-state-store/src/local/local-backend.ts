import { configurationError, withDeadline } from "@agentfw/core";
import type { CallLimits } from "@agentfw/core/backend";
import type { Backend, ItemCall, ItemWrite, KeysQuery, RawItem, ScopeCall } from "../backend.ts";
import { decodeCursor, encodeCursor } from "../data/cursor.ts";
import type { Moment, Outcome, Partition, Position, StoredItem } from "../data/partition.ts";
import { StoreData } from "../data/store-data.ts";
import { PROVIDER, stateError } from "../errors.ts";
import { DEFAULT_PAGE_SIZE, timesOf } from "../limits.ts";
import type { LocalStoreSettings } from "../local-options.ts";
import type { StateStoreItemKeyPage, StateStoreItemReference, StateStoreProperties, StoreUpdate } from "../types.ts";
import { changeFile, fileError, tidyUp } from "./exclusive-file.ts";
import { encode, ownerName, StoreReader, storeFile } from "./store-file.ts";

/** How long a call may take, where that is not as long as any other. */
type LocalCall = Pick<ScopeCall, "operation"> & Partial<CallLimits>;

/** What comes of a change, and what the file is to hold then: `null` for no file any more, nothing for what it holds. */
interface Change<T> {
  readonly value: T;
  readonly save?: StoreData | null;
}

/** Items in a file on this machine, shared by its processes. */
export class LocalBackend implements Backend {
  readonly isLocal = true;
  readonly #timeoutMs: number;
  readonly #now: () => number;
  readonly #path: string;
  readonly #reader: StoreReader;
  /** Apart, because a write changes what it has read before anybody may see it. */
  readonly #writer: StoreReader;

  constructor({ directory, timeoutMs, now, creation: { name } }: LocalStoreSettings) {
    this.#timeoutMs = timeoutMs;
    this.#now = now;
    this.#path = storeFile(directory, name);
    this.#reader = new StoreReader(this.#path, name);
    this.#writer = new StoreReader(this.#path, name);
  }

  /** The store, made when it is not there. */
  async getOrCreate({ creation, opening }: LocalStoreSettings): Promise<StateStoreProperties> {
    const timeLeft = () => ({ ...opening, timeoutMs: Math.max(1, Math.ceil(opening.endsAt - performance.now())) });
    await tidyUp(this.#path);
    const found = await this.#read(timeLeft(), (store) => store && propertiesOf(store));
    return (
      found ??
      this.#write(timeLeft(), (store) => {
        const { description = null } = creation;
        const save = store ?? StoreData.create({ ...creation, description }, this.#now());
        return store === undefined ? { value: propertiesOf(save), save } : { value: propertiesOf(store) };
      })
    );
  }

  async createItem(call: ItemCall, write: ItemWrite): Promise<StateStoreItemReference> {
    return referenceOf(
      await this.#change(call, (partition, moment) => partition.create({ ...write, key: call.key }, moment)),
    );
  }

  async setItem(call: ItemCall, write: ItemWrite): Promise<StateStoreItemReference> {
    return referenceOf(
      await this.#change(call, (partition, moment) => partition.set({ ...write, key: call.key }, moment)),
    );
  }

  getItem(call: ItemCall): Promise<RawItem | undefined> {
    return this.#read(call, (store) => {
      const item = store?.partition(ownerName(call.owner)).get(call.key, this.#now());
      return item && { ...referenceOf(item), text: item.text, tags: item.tags };
    });
  }

  async deleteItem(call: ItemCall, ifMatch: string | undefined): Promise<boolean> {
    const item = await this.#change(call, (partition, { now }) => partition.delete(call.key, now, ifMatch));
    return item !== undefined;
  }

  listItemKeys(call: ScopeCall, query: KeysQuery): Promise<StateStoreItemKeyPage> {
    return this.#read(call, (store) => {
      const partition = existing(call, store).partition(ownerName(call.owner));
      const { items, hasMore } = partition.list({
        ...query,
        now: this.#now(),
        limit: query.limit ?? DEFAULT_PAGE_SIZE,
        after: positionOf(query.after, "after", partition),
        before: positionOf(query.before, "before", partition),
      });
      const [firstId, lastId] = [items[0], items.at(-1)].map((item) => item && encodeCursor(item));
      return { keys: items.map((item) => ({ ...referenceOf(item), tags: item.tags })), firstId, lastId, hasMore };
    });
  }

  getStore(call: ScopeCall): Promise<StateStoreProperties> {
    return this.#read(call, (store) => propertiesOf(existing(call, store)));
  }

  updateStore({ description, tags }: StoreUpdate, call: ScopeCall): Promise<StateStoreProperties> {
    return this.#write(call, (store) => {
      const save = existing(call, store);
      save.update({ description, tags: tags ?? undefined }, this.#now());
      return { value: propertiesOf(save), save };
    });
  }

  deleteStore(call: ScopeCall): Promise<boolean> {
    return this.#write(call, (store) => (store === undefined ? { value: false } : { value: true, save: null }));
  }

  /** Reads, with nobody kept waiting. */
  async #read<T>(
    { operation, signal, timeoutMs = this.#timeoutMs }: LocalCall,
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

  /** Changes items, and gives the one that is there now, or that was there when it was deleted. */
  #change<T extends StoredItem | undefined>(
    { operation, owner, signal }: ItemCall,
    change: (partition: Partition, moment: Moment) => Outcome<T>,
  ): Promise<T> {
    return this.#write({ operation, signal }, (store) => {
      const save = existing({ operation }, store);
      const now = this.#now();
      const partition = save.partition(ownerName(owner));
      const result = change(partition, { now, ttlSeconds: save.record.itemTtlSeconds });
      if (result.refusal !== undefined) {
        const reason = result.refusal === "exists" ? "it exists already" : "the etag does not match";
        throw stateError("conflict", `${operation}: ${reason}`, { currentVersion: result.item?.etag });
      }
      const { item } = result;
      if (item === undefined) {
        // There was nothing to delete.
        return { value: item };
      }
      partition.sweep(now);
      return { value: item, save };
    });
  }

  /** Reads, changes and writes, with everybody else kept waiting. */
  #write<T>(
    { operation, signal, timeoutMs = this.#timeoutMs }: LocalCall,
    change: (store: StoreData | undefined) => Change<T>,
  ): Promise<T> {
    return changeFile(operation, this.#path, { signal, timeoutMs }, async ({ replace, remove }) => {
      const store = await this.#writer.read();
      this.#writer.forget();
      const { value, save } = change(store);
      if (save === null) {
        await remove();
      } else if (save !== undefined) {
        await replace(encode(save));
        await this.#writer.remember(save);
      }
      return value;
    });
  }
}

function existing({ operation }: LocalCall, store: StoreData | undefined): StoreData {
  if (store === undefined) {
    throw stateError("not_found", `${operation}: there is no such store`);
  }
  return store;
}

function positionOf(cursor: string | undefined, field: string, partition: Partition): Position | undefined {
  const position = cursor === undefined ? undefined : decodeCursor(cursor, (id) => partition.positionOf(id));
  if (cursor !== undefined && position === undefined) {
    throw configurationError(field, "must come from an earlier page");
  }
  return position;
}

function referenceOf({ id, key, etag, createdAt, updatedAt }: StoredItem): StateStoreItemReference {
  return { id, key, etag, ...timesOf(createdAt, updatedAt) };
}

function propertiesOf({ record }: StoreData): StateStoreProperties {
  const { id, name, userIsolation, itemTtlSeconds, description, tags, createdAt, updatedAt } = record;
  return Object.freeze({
    ...{ id, name, userIsolation, itemTtlSeconds, tags, description: description ?? undefined },
    ...timesOf(createdAt, updatedAt),
  });
}
