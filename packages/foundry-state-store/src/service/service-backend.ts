import { type CallOptions, configurationError, isAgentFrameworkError } from "@agentfw/core";
import type { HttpMethods } from "@azure/core-rest-pipeline";
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
    const question = this.#question("createItem", "POST", storePath(this.#name, "/items"), call);
    const body = writeBody(text, tags, call.key);
    return this.#requests.ask({ ...question, body }, (reply) => parseReference(reply.text, call.key, reply.etag));
  }

  setItem(call: ItemCall, { text, tags, ifMatch }: ItemWrite): Promise<StateStoreItemReference> {
    const question = this.#question("setItem", "PUT", itemPath(this.#name, call.key), call);
    const write = { ...question, ifMatch, body: writeBody(text, tags) };
    return this.#requests.ask(write, (reply) => parseReference(reply.text, call.key, reply.etag));
  }

  async getItem(call: ItemCall): Promise<RawItem | undefined> {
    const question = this.#question("getItem", "GET", itemPath(this.#name, call.key), call);
    const reply = await this.#requests.send(question);
    if (reply.status === 404) {
      return undefined;
    }
    return readReply(question, reply, ({ text, etag }) => parseItem(text, call.key, etag));
  }

  async deleteItem(call: ItemCall, ifMatch: string | undefined): Promise<string | undefined> {
    const question = this.#question("deleteItem", "DELETE", itemPath(this.#name, call.key), call);
    return (await this.#requests.ask({ ...question, ifMatch }, ({ text }) => parseTombstone(text))) ?? undefined;
  }

  listItemKeys(call: Omit<ItemCall, "key">, query: KeysQuery): Promise<StateStoreItemKeyPage> {
    const question = this.#question("listItemKeys", "GET", storePath(this.#name, "/items:keys"), call);
    return this.#requests.ask({ ...question, query: keysQuery(query) }, ({ text }) => parsePage(text));
  }

  getStore(options: CallOptions): Promise<StateStoreProperties> {
    const question = this.#about("getStore", "GET", options);
    return this.#requests.ask(question, ({ text }) => parseStore(text));
  }

  updateStore({ description, tags }: StoreUpdate, options: CallOptions): Promise<StateStoreProperties> {
    const body = JSON.stringify({ description, tags: tags === null ? {} : tags });
    const question = this.#about("updateStore", "PATCH", options);
    return this.#requests.ask({ ...question, body }, ({ text }) => parseStore(text));
  }

  async deleteStore(options: CallOptions): Promise<boolean> {
    const question = this.#about("deleteStore", "DELETE", options);
    return (await this.#requests.ask(question, ({ text }) => parseTombstone(text))) !== null;
  }

  #about(operation: string, method: HttpMethods, { signal }: CallOptions): Question {
    return this.#question(operation, method, storePath(this.#name), { callId: currentCallId(), owner: null, signal });
  }

  #question(
    operation: string,
    method: HttpMethods,
    path: string,
    { callId, owner, signal }: Omit<ItemCall, "key">,
  ): Question {
    // An isolated store knows the user by the call, and nothing that a program says can be another.
    if (owner !== null && !this.#isIsolated) {
      throw stateError("unsupported", "owner: the store has no user isolation");
    }
    const kind = method === "GET" ? "read" : "write";
    return { operation, kind, method, path, callId, signal, endsAt: performance.now() + this.#timeoutMs };
  }
}

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
