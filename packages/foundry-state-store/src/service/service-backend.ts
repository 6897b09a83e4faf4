import { configurationError, isAgentFrameworkError } from "@agentfw/core";
import type { HttpMethods } from "@azure/core-rest-pipeline";
import type { Backend, ItemCall, ItemWrite, KeysQuery, RawItem, ScopeCall } from "../backend.ts";
import { stateError } from "../errors.ts";
import type { CommonSettings } from "../options.ts";
import type { StateStoreItemKeyPage, StateStoreItemReference, StateStoreProperties, StoreUpdate } from "../types.ts";
import {
  itemPath,
  keysQuery,
  type Question,
  type Requests,
  readReply,
  storePath,
  tagsBody,
  writeBody,
} from "./requests.ts";
import { failureOf } from "./service-errors.ts";
import { parseItem, parsePage, parseReference, parseStore, parseTombstone } from "./wire.ts";

/** Which store, and how it is asked. */
export interface ServiceStore {
  readonly name: string;
  readonly timeoutMs: number;
  readonly isIsolated: boolean;
}

/** Items in the service: one request for each operation. */
export class ServiceBackend implements Backend {
  readonly isLocal = false;
  readonly #requests: Requests;
  readonly #store: ServiceStore;

  constructor(requests: Requests, store: ServiceStore) {
    this.#requests = requests;
    this.#store = store;
  }

  createItem(call: ItemCall, { text, tags }: ItemWrite): Promise<StateStoreItemReference> {
    const question = this.#question("POST", "/items", call);
    const body = writeBody(text, tags, call.key);
    return this.#requests.ask({ ...question, body }, (reply, etag) => parseReference(reply, call.key, etag));
  }

  setItem(call: ItemCall, { text, tags, ifMatch }: ItemWrite): Promise<StateStoreItemReference> {
    const question = { ...this.#question("PUT", itemPath(call.key), call), ifMatch };
    const body = writeBody(text, tags);
    return this.#requests.ask({ ...question, body }, (reply, etag) => parseReference(reply, call.key, etag));
  }

  async getItem(call: ItemCall): Promise<RawItem | undefined> {
    const question = this.#question("GET", itemPath(call.key), call);
    const reply = await this.#requests.send(question);
    return reply.status === 404
      ? undefined
      : readReply(question, reply, (text, etag) => parseItem(text, call.key, etag));
  }

  deleteItem(call: ItemCall, ifMatch: string | undefined): Promise<boolean> {
    const question = this.#question("DELETE", itemPath(call.key), call);
    return this.#requests.ask({ ...question, ifMatch }, parseTombstone);
  }

  listItemKeys(call: ScopeCall, query: KeysQuery): Promise<StateStoreItemKeyPage> {
    const question = this.#question("GET", "/items:keys", call);
    return this.#requests.ask({ ...question, query: keysQuery(query) }, parsePage);
  }

  getStore(call: ScopeCall): Promise<StateStoreProperties> {
    return this.#requests.ask(this.#question("GET", "", call), parseStore);
  }

  updateStore(changes: StoreUpdate, call: ScopeCall): Promise<StateStoreProperties> {
    const question = this.#question("PATCH", "", call);
    return this.#requests.ask({ ...question, body: JSON.stringify(changes) }, parseStore);
  }

  deleteStore(call: ScopeCall): Promise<boolean> {
    return this.#requests.ask(this.#question("DELETE", "", call), parseTombstone);
  }

  #question(method: HttpMethods, rest: string, call: ScopeCall): Question {
    const { name, timeoutMs, isIsolated } = this.#store;
    // An isolated store knows the user by the call, and nothing that a program says can be another.
    if (call.owner !== null && !isIsolated) {
      throw stateError("unsupported", "owner: the store has no user isolation");
    }
    return { ...call, method, path: storePath(name) + rest, endsAt: performance.now() + timeoutMs };
  }
}

/** The store, made when it is not there: one request where it is. What it is created with counts only then. */
export async function getOrCreateStore(
  requests: Requests,
  { creation, opening }: CommonSettings,
): Promise<StateStoreProperties> {
  const get = { ...opening, method: "GET", path: storePath(creation.name) } as const;
  const found = await requests.send(get);
  if (found.status !== 404) {
    return readReply(get, found, parseStore);
  }
  const { name, userIsolation: user_isolation, itemTtlSeconds: item_ttl_seconds, description } = creation;
  const body = JSON.stringify({ name, user_isolation, item_ttl_seconds, description, tags: tagsBody(creation.tags) });
  const post = { ...opening, method: "POST", path: "", body } as const;
  let lost: unknown;
  try {
    const made = await requests.send(post);
    if (made.status === 404) {
      // Every store may be missing, and the place for them is always there.
      throw configurationError("endpoint", "leads to no state stores", failureOf(post, made));
    }
    if (made.status !== 409) {
      return readReply(post, made, parseStore);
    }
  } catch (error) {
    if (!isAgentFrameworkError(error, "outcome_unknown")) {
      throw error;
    }
    lost = error;
  }
  // Made by another call, or perhaps by this one: the next look tells, and where that finds nothing nobody knows.
  const late = await requests.send(get);
  if (late.status === 404 && lost !== undefined) {
    throw lost;
  }
  return readReply(get, late, parseStore);
}
