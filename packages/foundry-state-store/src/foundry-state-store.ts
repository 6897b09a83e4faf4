import {
  type CallOptions,
  isAgentFrameworkError,
  type Scope,
  type StateCapabilities,
  type StateItem,
  type StateKey,
  type StateListOptions,
  type StateStore,
  type Tags,
} from "@agentfw/core";
import { assertStateText } from "@agentfw/core/backend";
import { assertAsAsked } from "./as-asked.ts";
import type { Backend, ItemCall, StoreParts } from "./backend.ts";
import { assertCallId } from "./call-id.ts";
import { stateError } from "./errors.ts";
import { everyKey } from "./every-key.ts";
import { assertPageSize } from "./input-checks.ts";
import {
  canMatch,
  etagOf,
  itemCall,
  keysQuery,
  portListing,
  scopeCall,
  storeUpdate,
  valueText,
  writeOf,
} from "./item-input.ts";
import { LIMITS } from "./limits.ts";
import { filesEngine, loadEngine, serviceEngine } from "./load-engine.ts";
import { resolveLocal, tellOfFiles } from "./local-options.ts";
import { type FoundryStateStoreOptions, type LocalStateStoreOptions, resolveCommon } from "./options.ts";
import { resolveService, SERVICE_OPTIONS } from "./service-options.ts";
import type {
  CreateItemOptions,
  DeleteItemOptions,
  ItemOptions,
  IterateItemKeysOptions,
  JsonObject,
  ListItemKeysOptions,
  SetItemOptions,
  StateStoreItem,
  StateStoreItemKey,
  StateStoreItemKeyPage,
  StateStoreItemReference,
  StateStoreProperties,
  StoreUpdate,
} from "./types.ts";

/**
 * A Foundry state store: JSON objects under keys, with tags, etags and an idle life, apart for each user where the store
 * was created so.
 *
 * *Two families of methods*: `createItem`, `setItem`, `getItem`, `deleteItem`, `listItemKeys` and `iterateItemKeys` are the
 * service's, over values; `create`, `set`, `get`, `delete` and `listKeys` are core's `StateStore`, over JSON text, whose
 * numbers are exact. They see the same items.
 *
 * *Atomicity*: an item operation is one request, and whole or not at all. There are no transactions over several items.
 *
 * *Identity*: in an isolated store the service tells the user by the call id, see `runWithCallId` and
 * {@link withCallId}. An `owner` is then ignored; a store without isolation refuses one with `unsupported`.
 *
 * *Failure*: reads are retried within the deadline. Writes are retried only where the service did nothing; one whose answer
 * was lost is `outcome_unknown`.
 *
 * *Concurrency*: one object serves any number of calls and requests at once.
 */
export class FoundryStateStore implements StateStore {
  readonly contractVersion: 1 = 1;
  readonly capabilities: StateCapabilities;
  /** What the store was when it was opened; {@link getStore} asks again. */
  readonly properties: StateStoreProperties;
  readonly #parts: StoreParts;
  #isClosed = false;

  /** Stores are opened by `getOrCreate`. */
  protected constructor(parts: StoreParts) {
    this.#parts = parts;
    this.properties = parts.properties;
    this.capabilities = { maxValueBytes: LIMITS.valueBytes, ttl: true, isolation: parts.isIsolated };
  }

  /**
   * Opens a store, and creates it when there is none: one request where it exists. Where nothing hosted is configured it
   * is a {@link LocalStateStore}, and says so once.
   *
   * @param name 1 to 128 characters, `/` included. Names turn up in the service's logs: leave users out of them.
   * @throws `configuration` naming the option, or what differs from a store that exists; `unauthorized`, `unavailable`,
   * `timeout`, `outcome_unknown`
   */
  static async getOrCreate(name: string, options: FoundryStateStoreOptions = {}): Promise<FoundryStateStore> {
    const settings = resolveCommon(name, options, SERVICE_OPTIONS);
    const service = resolveService(options);
    // A program that is hosted needs no files, and one that is not needs no HTTP.
    if (service === undefined) {
      const { credential, endpoint, agentName, pipelineOptions, httpClient, localDirectory, ...common } = options;
      const store = await LocalStateStore.getOrCreate(name, { ...common, directory: localDirectory });
      tellOfFiles(settings.onDiagnostic);
      return store;
    }
    const { openStore } = await loadEngine(serviceEngine, settings.opening);
    const parts = await openStore(settings, service);
    assertAsAsked(parts.properties, settings);
    return new FoundryStateStore(parts);
  }

  /** The store's name. */
  get name(): string {
    return this.properties.name;
  }

  /** True when the items are files on this machine. */
  get isLocal(): boolean {
    return this.#parts.backend.isLocal;
  }

  /**
   * The same store on behalf of one caller, whatever call is around: for work that outlives its request, and for
   * `SessionStore` and others that know no call ids.
   *
   * @throws `configuration` for a call id that no header can carry
   */
  withCallId(callId: string): FoundryStateStore {
    assertCallId(callId);
    return new FoundryStateStore({ ...this.#parts, callId });
  }

  /** Creates an item. @throws `conflict` when the key is taken, `not_found` when the store is gone, and as `setItem` */
  async createItem(key: string, value: JsonObject, options: CreateItemOptions = {}): Promise<StateStoreItemReference> {
    const call = itemCall("createItem", key, options, this.#parts);
    return this.#backend.createItem(call, writeOf(valueText(value), options));
  }

  /**
   * Writes an item, whether it is there or not; its tags are replaced, and its idle life begins anew.
   *
   * @throws `configuration` for a key, value or tags that the service does not take; `too_large` above 1,048,576 bytes;
   * `conflict` with `currentVersion` by `ifMatch` or `requireExists`; `not_found` when the store is gone; `unauthorized`,
   * `unavailable`, `timeout`, `outcome_unknown`
   */
  async setItem(key: string, value: JsonObject, options: SetItemOptions = {}): Promise<StateStoreItemReference> {
    const call = itemCall("setItem", key, options, this.#parts);
    return this.#backend.setItem(call, writeOf(valueText(value), options));
  }

  /** The item, or `undefined` when there is none, it has expired, it is another user's, or the store is gone. */
  async getItem(key: string, options: ItemOptions = {}): Promise<StateStoreItem | undefined> {
    const item = await this.#backend.getItem(itemCall("getItem", key, options, this.#parts));
    return item && { ...item, value: JSON.parse(item.text) };
  }

  /** Deletes an item; `existed` says whether there was one. @throws `conflict` by `ifMatch`, and as `setItem` */
  async deleteItem(key: string, options: DeleteItemOptions = {}): Promise<{ readonly existed: boolean }> {
    const call = itemCall("deleteItem", key, options, this.#parts);
    return { existed: await this.#backend.deleteItem(call, etagOf(options)) };
  }

  /** A page of keys, the newest first unless told. Values are not in it: fetch those that you need. */
  async listItemKeys(options: ListItemKeysOptions = {}): Promise<StateStoreItemKeyPage> {
    const call = scopeCall("listItemKeys", options, this.#parts);
    return this.#backend.listItemKeys(call, keysQuery(options));
  }

  /**
   * All keys, page by page as they are asked for. Ends where the service says that there are no more, or gives no cursor.
   *
   * @throws as `listItemKeys`; `unavailable` when the service gives the same page again
   */
  async *iterateItemKeys(options: IterateItemKeysOptions = {}): AsyncGenerator<StateStoreItemKey, void, undefined> {
    const call = scopeCall("iterateItemKeys", options, this.#parts);
    const { tags, order, pageSize = LIMITS.pageSize } = options;
    assertPageSize(pageSize, "pageSize");
    const query = keysQuery({ tags, order, limit: pageSize });
    yield* everyKey((after) => this.#backend.listItemKeys(call, { ...query, after }));
  }

  /** What the store is now. @throws `not_found` when it is gone */
  async getStore(options: CallOptions = {}): Promise<StateStoreProperties> {
    return this.#backend.getStore(scopeCall("getStore", options, this.#parts));
  }

  /** Changes description and tags; nothing else of a store can be changed. @throws `not_found`, and as `setItem` */
  async updateStore(changes: StoreUpdate, options: CallOptions = {}): Promise<StateStoreProperties> {
    const call = scopeCall("updateStore", options, this.#parts);
    return this.#backend.updateStore(storeUpdate(changes), call);
  }

  /** Deletes the store with all items of all users; true when there was one. Its name is free again. */
  async deleteStore(options: CallOptions = {}): Promise<boolean> {
    return this.#backend.deleteStore(scopeCall("deleteStore", options, this.#parts));
  }

  async create(
    key: string,
    text: string,
    options: Scope & { readonly tags?: Tags | undefined } = {},
  ): Promise<{ etag: string }> {
    const call = itemCall("create", key, options, this.#parts);
    assertStateText(text, LIMITS.valueBytes);
    const write = writeOf(text, { tags: options.tags });
    try {
      return { etag: (await this.#backend.createItem(call, write)).etag };
    } catch (error) {
      if (!isAgentFrameworkError(error, "conflict") || error.currentVersion !== undefined) {
        throw error;
      }
      // The service does not say which etag is there. That the look fails changes nothing about the conflict.
      const item = await this.#backend.getItem(call).catch(() => undefined);
      throw stateError("conflict", "create: the key is taken", { cause: error.cause, currentVersion: item?.etag });
    }
  }

  async set(
    key: string,
    text: string,
    options: Scope & { readonly tags?: Tags | undefined; readonly ifMatch?: string | undefined } = {},
  ): Promise<{ etag: string }> {
    const call = itemCall("set", key, options, this.#parts);
    const { tags, ifMatch } = options;
    assertStateText(text, LIMITS.valueBytes);
    const write = writeOf(text, { tags });
    if (!canMatch(ifMatch)) {
      throw await this.#mismatch(call);
    }
    return { etag: (await this.#backend.setItem(call, { ...write, ifMatch })).etag };
  }

  async get(key: string, options: Scope = {}): Promise<StateItem | undefined> {
    const item = await this.#backend.getItem(itemCall("get", key, options, this.#parts));
    return item && { key, text: item.text, etag: item.etag, tags: item.tags };
  }

  async delete(key: string, options: Scope & { readonly ifMatch?: string | undefined } = {}): Promise<boolean> {
    const call = itemCall("delete", key, options, this.#parts);
    const { ifMatch } = options;
    if (!canMatch(ifMatch)) {
      throw await this.#mismatch(call);
    }
    return this.#backend.deleteItem(call, ifMatch);
  }

  /** As core's port: the oldest first, and up to 100 keys. A cursor is the service's own; one that expired may show nothing. */
  async listKeys(options: StateListOptions = {}): Promise<{ keys: StateKey[]; cursor?: string }> {
    const call = scopeCall("listKeys", options, this.#parts);
    const { keys, hasMore, lastId } = await this.#backend.listItemKeys(call, portListing(options));
    const shown = keys.map(({ key, etag, tags }) => ({ key, etag, tags }));
    return hasMore && lastId !== undefined ? { keys: shown, cursor: lastId } : { keys: shown };
  }

  /**
   * Releases nothing: connections are shared by the stores of the process, and idle ones keep no process alive. Objects made
   * by {@link withCallId} are closed by themselves.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
  }

  get #backend(): Backend {
    if (this.#isClosed) {
      throw stateError("configuration", "the store was closed");
    }
    return this.#parts.backend;
  }

  /** The conflict of a condition that no header can carry: no item has such an etag. */
  async #mismatch(call: ItemCall): Promise<Error> {
    const item = await this.#backend.getItem(call);
    return stateError("conflict", "ifMatch: the etag does not match", { currentVersion: item?.etag });
  }
}

/**
 * A state store in files on this machine, with the semantics of the service: one folder, one file a store. For development,
 * and for programs of one machine.
 *
 * *Atomicity*: each write puts a new file in place of the old one, synced; a crash leaves one of the two. Any number of
 * processes may write: one at a time has the file's lock, and a lock whose holder died is taken over after 3 seconds.
 *
 * *Identity*: call ids are accepted and mean nothing, because only the platform knows who is behind one. The `owner` of
 * core's port is kept apart.
 *
 * *Limits*: each write writes the whole file. Not for network file systems.
 */
export class LocalStateStore extends FoundryStateStore {
  /**
   * Opens a store, and creates it when there is none.
   *
   * @throws `configuration` naming the option, or what differs from a store that exists, also for user isolation
   * without `allowUnisolatedLocal`; `corrupt`, `unauthorized`, `unavailable`, `timeout`, `outcome_unknown`
   */
  static override async getOrCreate(name: string, options: LocalStateStoreOptions = {}): Promise<LocalStateStore> {
    const settings = resolveLocal(name, options);
    const { openFiles } = await loadEngine(filesEngine, settings.opening);
    const parts = await openFiles(settings);
    assertAsAsked(parts.properties, settings);
    return new LocalStateStore(parts);
  }
}
