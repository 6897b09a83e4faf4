import type { Tags } from "@agentfw/core";
import type { KeysQuery } from "../backend.ts";
import { CALL_ID_HEADER } from "../call-id.ts";
import type { Endpoint } from "../endpoint.ts";
import type { HttpCall, HttpReply, Transport } from "../http/transport.ts";
import { encodeSegment } from "../segments.ts";
import { failureOf, unreadable } from "./service-errors.ts";

/** What an operation asks. */
export interface Question extends Omit<HttpCall, "url" | "headers"> {
  /** Below the stores. */
  readonly path: string;
  readonly query?: readonly (readonly [string, string])[] | undefined;
  readonly callId: string | undefined;
  readonly ifMatch?: string | undefined;
}

/** The version of the protocol, first in every query. */
const API_VERSION = "api-version=v1";

/** The preview that the agent-scoped surface belongs to. */
const PREVIEW = "StateStores=V1Preview";

/** Puts requests together as the protocol has them. */
export class Requests {
  readonly #transport: Transport;
  readonly #endpoint: Endpoint;

  constructor(transport: Transport, endpoint: Endpoint) {
    this.#transport = transport;
    this.#endpoint = endpoint;
  }

  /** Sends a request and gives the reply, whatever its status. */
  send(question: Question): Promise<HttpReply> {
    return this.#transport.send({ ...question, url: this.#urlOf(question), headers: this.#headersOf(question) });
  }

  /** Sends a request and reads its success. @throws the error that its reply stands for */
  async ask<T>(question: Question, parse: (reply: HttpReply) => T | undefined): Promise<T> {
    return readReply(question, await this.send(question), parse);
  }

  #urlOf({ path, query = [] }: Question): string {
    const parts = query.map(([name, value]) => `${name}=${encodeQueryValue(value)}`);
    return `${this.#endpoint.baseUrl}state_stores${path}?${[API_VERSION, ...parts].join("&")}`;
  }

  #headersOf({ body, callId, ifMatch }: Question): Record<string, string> {
    return {
      Accept: "application/json",
      ...(body === undefined ? {} : { "Content-Type": "application/json; charset=utf-8" }),
      ...(callId === undefined ? {} : { [CALL_ID_HEADER]: callId }),
      ...(ifMatch === undefined ? {} : { "If-Match": ifMatch }),
      ...(this.#endpoint.isAgentScoped ? { "Foundry-Features": PREVIEW } : {}),
    };
  }
}

/** Reads a reply. @throws the error that it stands for */
export function readReply<T>(
  { operation, kind }: Pick<Question, "operation" | "kind">,
  reply: HttpReply,
  parse: (reply: HttpReply) => T | undefined,
): T {
  if (reply.status < 200 || reply.status > 299) {
    throw failureOf(operation, kind, reply);
  }
  const parsed = parse(reply);
  if (parsed === undefined) {
    throw unreadable(operation, kind, reply);
  }
  return parsed;
}

/** The path of a store, or of what is in it. */
export function storePath(name: string, rest = ""): string {
  return `/${encodeSegment(name)}${rest}`;
}

/** The path of an item. */
export function itemPath(name: string, key: string): string {
  return storePath(name, `/items/${encodeSegment(key)}`);
}

/** A listing's query, in the order in which it is sent. */
export function keysQuery({ tags, limit, order, after, before }: KeysQuery): (readonly [string, string])[] {
  return [
    ...Object.entries(tags).map(([name, value]) => [`tags.${name}`, value] as const),
    ...(limit === undefined ? [] : [["limit", String(limit)] as const]),
    ...(after === undefined ? [] : [["after", after] as const]),
    ...(before === undefined ? [] : [["before", before] as const]),
    ["order", order] as const,
  ];
}

/** The body of a write. The value goes in as the text that it is, so that its numbers stay. */
export function writeBody(text: string, tags: Tags | undefined, key?: string): string {
  const hasTags = tags !== undefined && Object.keys(tags).length > 0;
  const rest = JSON.stringify({ ...(key === undefined ? {} : { key }), ...(hasTags ? { tags } : {}) });
  return rest === "{}" ? `{"value":${text}}` : `${rest.slice(0, -1)},"value":${text}}`;
}

/** Everything but letters, digits and `-._~` is escaped. */
function encodeQueryValue(value: string): string {
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
