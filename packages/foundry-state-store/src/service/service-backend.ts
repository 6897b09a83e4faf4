import { type CallOptions, configurationError, isAgentFrameworkError } from "@agentfw/core";
import type { Backend, ItemCall, ItemWrite, KeysQuery, RawItem } from "../backend.ts";
import { currentCallId } from "../call-id.ts";
import { stateError } from "../errors.ts";
import type { OpeningCall } from "../options.ts";
import type { StateStoreItemKeyPage, StateStoreItemReference, StateStoreProperties, StoreUpdate } from "../types.ts";
import { itemPath, keysQuery, type Question, type Requests, readReply, storePath, writeBody } from "./requests.ts";
import { failureOf } from "./service-errors.ts";
import { parseItem, parsePage, parseReference, parseStore, parseTombstone } from "./wire.ts";

/** What a store is created with. */
export interface StoreCreation {
  readonly name: string;
  readonly userIsolation: boolean;
  readonly itemTtlSeconds: number;
  readonly description: string | undefined;
  readonly tags: Readonly<Record<string, string>> | undefined;
}

/** Items in the service: one request for each operation. */
export class ServiceBackend implements Backend {
  readonly isLocal = false;
  readonly #requests: Requests;
  readonly #name: string;
  readonly #timeoutMs: number;
  readonly #isIsolated: boolean;

  constructor(
    requests: Requests,
    store: { readonly name: string; readonly timeoutMs: number; readonly isIsolated: boolean },
  ) {
    this.#requests = requests;
    this.#name = store.name;
    this.#timeoutMs = store.timeoutMs;
    this.#isIsolated = store.isIsolated;
  }

  createItem(call: ItemCall, { text, tags }: ItemWrite): Promise<StateStoreItemReference> {
    const question = {
      ...this.#write("createItem", call),
      method: "POST",
      path: storePath(this.#name, "/items"),
    } as const;
    const body = writeBody(text, tags, call.key);
    return this.#requests.ask({ ...question, body }, (reply) => parseReference(reply.text, call.key, reply.etag));
  }

  setItem(call: ItemCall, { text, tags, ifMatch }: ItemWrite): Promise<StateStoreItemReference> {
    const path = itemPath(this.#name, call.key);
    const question = {
      ...this.#write("setItem", call),
      method: "PUT",
      path,
      ifMatch,
      body: writeBody(text, tags),
    } as const;
    return this.#requests.ask(question, (reply) => parseReference(reply.text, call.key, reply.etag));
  }

  async getItem(call: ItemCall): Promise<RawItem | undefined> {
    const question = { ...this.#read("getItem", call), method: "GET", path: itemPath(this.#name, call.key) } as const;
    const reply = await this.#requests.send(question);
    if (reply.status === 404) {
      return undefined;
    }
    return readReply(question, reply, ({ text, etag }) => parseItem(text, call.key, etag));
  }

  async deleteItem(call: ItemCall, ifMatch: string | undefined): Promise<string | undefined> {
    const path = itemPath(this.#name, call.key);
    const question = { ...this.#write("deleteItem", call), method: "DELETE", path, ifMatch } as const;
    return (await this.#requests.ask(question, ({ text }) => parseTombstone(text))) ?? undefined;
  }

  listItemKeys(call: Omit<ItemCall, "key">, query: KeysQuery): Promise<StateStoreItemKeyPage> {
    const path = storePath(this.#name, "/items:keys");
    const question = { ...this.#read("listItemKeys", call), method: "GET", path, query: keysQuery(query) } as const;
    return this.#requests.ask(question, ({ text }) => parsePage(text));
  }

  getStore(options: CallOptions): Promise<StateStoreProperties> {
    const question = {
      ...this.#about("getStore", "read", options),
      method: "GET",
      path: storePath(this.#name),
    } as const;
    return this.#requests.ask(question, ({ text }) => parseStore(text));
  }

  updateStore({ description, tags }: StoreUpdate, options: CallOptions): Promise<StateStoreProperties> {
    const body = JSON.stringify({ description, tags: tags === null ? {} : tags });
    const question = {
      ...this.#about("updateStore", "write", options),
      method: "PATCH",
      path: storePath(this.#name),
    } as const;
    return this.#requests.ask({ ...question, body }, ({ text }) => parseStore(text));
  }

  async deleteStore(options: CallOptions): Promise<boolean> {
    const question = {
      ...this.#about("deleteStore", "write", options),
      method: "DELETE",
      path: storePath(this.#name),
    } as const;
    return (await this.#requests.ask(question, ({ text }) => parseTombstone(text))) !== null;
  }

  #read(operation: string, call: Omit<ItemCall, "key">): ItemQuestion {
    return { ...this.#item(operation, call), kind: "read" };
  }

  #write(operation: string, call: Omit<ItemCall, "key">): ItemQuestion {
    return { ...this.#item(operation, call), kind: "write" };
  }

  #item(operation: string, { callId, owner, signal }: Omit<ItemCall, "key">): Omit<ItemQuestion, "kind"> {
    // An isolated store knows the user by the call, and nothing that a program says can be another.
    if (owner !== null && !this.#isIsolated) {
      throw stateError("unsupported", "owner: the store has no user isolation");
    }
    return { operation, callId, signal, endsAt: performance.now() + this.#timeoutMs };
  }

  #about(operation: string, kind: "read" | "write", { signal }: CallOptions): ItemQuestion {
    return { operation, kind, callId: currentCallId(), signal, endsAt: performance.now() + this.#timeoutMs };
  }
}

type ItemQuestion = Pick<Question, "operation" | "kind" | "callId" | "signal" | "endsAt">;

/** The store, made when it is not there: one request where it is. What it is created with counts only then. */
export async function getOrCreateStore(
  requests: Requests,
  creation: StoreCreation,
  { signal, endsAt }: OpeningCall,
): Promise<StateStoreProperties> {
  const base = { operation: "getOrCreate", callId: currentCallId(), signal, endsAt };
  const get = { ...base, kind: "read", method: "GET", path: storePath(creation.name) } as const;
  const found = await requests.send(get);
  if (found.status !== 404) {
    return readReply(get, found, ({ text }) => parseStore(text));
  }
  const post = { ...base, kind: "write", method: "POST", path: "", body: creationBody(creation) } as const;
  try {
    const made = await requests.send(post);
    if (made.status === 404) {
      // Every store may be missing, and the place for them is always there.
      throw configurationError("endpoint", "leads to no state stores", failureOf("getOrCreate", "write", made));
    }
    if (made.status !== 409) {
      return readReply(post, made, ({ text }) => parseStore(text));
    }
  } catch (error) {
    if (!isAgentFrameworkError(error, "outcome_unknown")) {
      throw error;
    }
    // Made or not, by this call or another's: the next look tells, and where it finds nothing nobody knows.
    const late = await requests.send(get);
    if (late.status === 404) {
      throw error;
    }
    return readReply(get, late, ({ text }) => parseStore(text));
  }
  // Somebody else made it in between.
  return requests.ask(get, ({ text }) => parseStore(text));
}

function creationBody({ name, userIsolation, itemTtlSeconds, description, tags }: StoreCreation): string {
  const shown = tags === undefined || Object.keys(tags).length === 0 ? undefined : tags;
  return JSON.stringify({
    name,
    user_isolation: userIsolation,
    item_ttl_seconds: itemTtlSeconds,
    description,
    tags: shown,
  });
}
