import type { Tags } from "@agentfw/core";
import type { HttpClient, Pipeline, PipelineResponse } from "@azure/core-rest-pipeline";
import type { KeysQuery } from "../backend.ts";
import type { Endpoint } from "../endpoint.ts";
import { createStorePipeline, defaultHttpClient } from "../http/pipeline.ts";
import { type HttpCall, sendInTime } from "../http/transport.ts";
import { CALL_ID_HEADER, encodeSegment } from "../protocol.ts";
import type { ServiceSettings } from "../service-options.ts";
import { failureOf } from "./service-errors.ts";

/** What an operation asks. */
export interface Question extends Omit<HttpCall, "url" | "headers"> {
  /** Below the stores. */
  readonly path: string;
  /** In the order in which it is sent, behind the version. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly callId: string | undefined;
  readonly ifMatch?: string | undefined;
}

/** The version of the protocol, first in every query. */
const API_VERSION = "api-version=v1";

/** The preview that the agent-scoped surface belongs to. */
const PREVIEW = "StateStores=V1Preview";

/** Puts requests together as the protocol has them. */
export class Requests {
  readonly #endpoint: Endpoint;
  readonly #pipeline: Pipeline;
  readonly #client: HttpClient;

  constructor(service: ServiceSettings) {
    this.#endpoint = service.place;
    this.#pipeline = createStorePipeline(service);
    this.#client = service.httpClient ?? defaultHttpClient();
  }

  /** Sends a request and gives the reply, whatever its status. */
  send(question: Question): Promise<PipelineResponse> {
    const { path, query = {}, body, callId, ifMatch } = question;
    const { baseUrl, isAgentScoped } = this.#endpoint;
    const parts = given(query).map(([name, value]) => `${name}=${encodeQueryValue(String(value))}`);
    const headers = {
      Accept: "application/json",
      "Content-Type": body && "application/json; charset=utf-8",
      [CALL_ID_HEADER]: callId,
      "If-Match": ifMatch,
      "Foundry-Features": isAgentScoped ? PREVIEW : undefined,
    };
    return sendInTime(this.#pipeline, this.#client, {
      ...question,
      url: `${baseUrl}state_stores${path}?${[API_VERSION, ...parts].join("&")}`,
      headers: Object.fromEntries(given(headers)),
    });
  }

  /** Sends a request and reads its success. @throws the error that its reply stands for */
  async ask<T>(question: Question, parse: Parse<T>): Promise<T> {
    return readReply(question, await this.send(question), parse);
  }
}

/** Reads the body of a success, beside which the etag may be in a header; `undefined` for what cannot be read. */
type Parse<T> = (text: string, etag: string | undefined) => T | undefined;

/** Reads a reply. @throws the error that it stands for */
export function readReply<T>(question: Question, reply: PipelineResponse, parse: Parse<T>): T {
  const { status, bodyAsText, headers } = reply;
  const isSuccess = status >= 200 && status < 300;
  const parsed = isSuccess ? parse(bodyAsText ?? "", headers.get("etag")) : undefined;
  if (parsed === undefined) {
    throw failureOf(question, reply);
  }
  return parsed;
}

/** The path of a store. */
export function storePath(name: string): string {
  return `/${encodeSegment(name)}`;
}

/** The path of an item, below its store. */
export function itemPath(key: string): string {
  return `/items/${encodeSegment(key)}`;
}

/** A listing's query. */
export function keysQuery({ tags, limit, order, after, before }: KeysQuery): NonNullable<Question["query"]> {
  const wanted = Object.entries(tags).map(([name, value]) => [`tags.${name}`, value]);
  return { ...Object.fromEntries(wanted), limit, after, before, order };
}

/** The members that are there. */
function given<T>(members: Readonly<Record<string, T | undefined>>): [string, T][] {
  return Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

/** The body of a write. The value goes in as the text that it is, so that its numbers stay. */
export function writeBody(text: string, tags: Tags, key?: string): string {
  const rest = JSON.stringify({ key, tags: tagsBody(tags) }).slice(1, -1);
  return `{${rest && `${rest},`}"value":${text}}`;
}

/** Tags as they are sent: not at all where there are none. */
export function tagsBody(tags: Tags): Tags | undefined {
  return Object.keys(tags).length === 0 ? undefined : tags;
}

/** Everything but letters, digits and `-._~` is escaped. */
function encodeQueryValue(value: string): string {
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
