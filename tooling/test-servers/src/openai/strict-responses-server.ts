import type { IncomingMessage, ServerResponse } from "node:http";
import {
  checkKey,
  checkModel,
  checkPost,
  deliver,
  type LocalServer,
  type ReceivedRequest,
  receive,
  startLocalServer,
} from "./http.ts";
import { checkItems, inputItems, spokenText } from "./item-rules.ts";
import { type Fields, Refusal } from "./refusal.ts";
import type { Delivery } from "./replies.ts";
import {
  eventsOf,
  outputItems,
  type ResponsesAnswer,
  type ResponsesReply,
  responseBody,
  says,
} from "./responses-replies.ts";
import { checkParameters } from "./responses-rules.ts";

/** Options of {@link startStrictResponsesServer}. */
export interface StrictResponsesOptions {
  /** The key that requests must carry. Default: `test-key`; `null` wants no Authorization header at all. */
  readonly apiKey?: string | null;
  /** The models that exist. Default: all. */
  readonly models?: readonly string[];
  /** The models without encrypted reasoning, which refuse to be asked for it. Default: none. */
  readonly plainModels?: readonly string[];
  /** Decides on replies that were not queued. Default: `says("Hello.")`. */
  readonly respond?: (request: ReceivedRequest, count: number) => ResponsesReply | Promise<ResponsesReply>;
}

/** A server of the Responses API for tests that refuses what the real one refuses, and keeps what that one keeps. */
export interface StrictResponsesServer extends LocalServer {
  readonly apiKey: string;
  /** Every request for a response with a readable body, in order, refused ones too. */
  readonly requests: readonly ReceivedRequest[];
  /** The ids of conversations and responses whose items were asked for. */
  readonly lookups: readonly string[];
  /** Queues replies; each is used once, before `respond` is asked. */
  reply(...replies: ResponsesReply[]): void;
  /** Makes a conversation, as a request of its own does, and gives its id. */
  createConversation(): string;
  /** Every item that a conversation, or the chain up to a response, holds. */
  kept(id: string): readonly Fields[];
}

/** Starts a server on a free local port. */
export async function startStrictResponsesServer(options: StrictResponsesOptions = {}): Promise<StrictResponsesServer> {
  const service = new Service(options);
  const server = await startLocalServer((incoming, outgoing) => service.handle(incoming, outgoing));
  return {
    ...server,
    apiKey: options.apiKey ?? "test-key",
    requests: service.requests,
    lookups: service.lookups,
    reply: (...replies) => void service.queue.push(...replies),
    createConversation: () => service.createConversation(),
    kept: (id) => service.kept.get(id) ?? [],
  };
}

/** What an answer adds to, and what lets the next one begin. */
interface Context {
  readonly before: readonly Fields[];
  release(): void;
}

let servers = 0;

class Service {
  readonly requests: ReceivedRequest[] = [];
  readonly lookups: string[] = [];
  readonly queue: ResponsesReply[] = [];
  /** The items of each conversation and of each chain, by its id. */
  readonly kept = new Map<string, readonly Fields[]>();
  readonly #options: StrictResponsesOptions;
  readonly #secret: string;
  readonly #responses = new Map<string, Fields>();
  /** What follows each piece of encrypted reasoning that this server made. */
  readonly #partners = new Map<string, Fields>();
  readonly #busy = new Set<string>();

  constructor(options: StrictResponsesOptions) {
    servers += 1;
    this.#secret = `server ${servers}`;
    this.#options = options;
  }

  createConversation(): string {
    const id = `conv_${this.kept.size}_${this.#secret.replace(" ", "")}`;
    this.kept.set(id, []);
    return id;
  }

  async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const listed = /^\/v1\/conversations\/([^/?]+)\/items\?(.*)$/.exec(incoming.url ?? "");
    if (incoming.method === "GET" && listed !== null) {
      checkKey(incoming, this.#options.apiKey);
      this.#list(listed[1] ?? "", new URLSearchParams(listed[2]), outgoing);
      return;
    }
    const retrieved = /^\/v1\/responses\/([^/?]+)$/.exec(incoming.url ?? "");
    if (incoming.method === "GET" && retrieved !== null) {
      checkKey(incoming, this.#options.apiKey);
      this.#retrieve(retrieved[1] ?? "", outgoing);
      return;
    }
    const request = await receive(incoming, outgoing);
    this.requests.push(request);
    checkKey(incoming, this.#options.apiKey);
    checkPost(incoming, "/v1/responses");
    checkParameters(request.body);
    checkModel(request.body["model"], this.#options.models);
    this.#checkEncryption(request.body);
    const before = this.#before(request.body);
    const items = inputItems(request.body["input"]);
    checkItems(items, before, {
      isKept: (id) => [...this.kept.values()].some((kept) => kept.some((item) => item["id"] === id)),
      partnerOf: (encrypted) => this.#partners.get(encrypted),
      reasoningOf: (item) => this.#reasoningOf(item),
    });
    await this.#exclusively(request.body["conversation"], async (release) => {
      const reply = this.queue.shift() ?? (await this.#options.respond?.(request, this.requests.length));
      await this.#send(outgoing, reply ?? says("Hello."), request.body, { before: [...before, ...items], release });
    });
  }

  #list(id: string, query: URLSearchParams, outgoing: ServerResponse): void {
    const kept = this.kept.get(id);
    if (kept === undefined) {
      throw new Refusal(null, `Conversation with id '${id}' not found.`, null, 404);
    }
    this.lookups.push(id);
    const ordered = query.get("order") === "asc" ? kept : kept.toReversed();
    const data = ordered.slice(0, Number(query.get("limit") ?? 20));
    outgoing.writeHead(200, { "content-type": "application/json" });
    outgoing.end(JSON.stringify({ object: "list", data, has_more: data.length < kept.length }));
  }

  #retrieve(id: string, outgoing: ServerResponse): void {
    const response = this.#responses.get(id);
    if (response === undefined) {
      throw new Refusal(null, `Response with id '${id}' not found.`, null, 404);
    }
    this.lookups.push(id);
    outgoing.end(json(outgoing, response));
  }

  #checkEncryption({ model, include }: Fields): void {
    const isPlain = this.#options.plainModels?.some((name) => name === model);
    if (isPlain && Array.isArray(include) && include.includes("reasoning.encrypted_content")) {
      throw new Refusal("include", "Encrypted content is not supported with this model.");
    }
  }

  #before({ previous_response_id: previous, conversation }: Fields): readonly Fields[] {
    const id = previous ?? conversation;
    const kept = id === undefined ? [] : this.kept.get(String(id));
    if (kept !== undefined) {
      return kept;
    }
    throw previous === undefined
      ? new Refusal(null, `Conversation with id '${id}' not found.`, null, 404)
      : new Refusal(
          "previous_response_id",
          `Previous response with id '${id}' not found.`,
          "previous_response_not_found",
        );
  }

  #reasoningOf(item: Fields): string | undefined {
    const isSame = (other: Fields): boolean =>
      item["type"] === "function_call"
        ? other["call_id"] === item["call_id"]
        : item["role"] === "assistant" && spokenText(other["content"]) === spokenText(item["content"]);
    return [...this.#partners].find(([, partner]) => partner["type"] === item["type"] && isSame(partner))?.[0];
  }

  /** Two requests at once on one conversation are one too many. */
  async #exclusively(conversation: unknown, work: (release: () => void) => Promise<void>): Promise<void> {
    if (typeof conversation !== "string") {
      return work(() => undefined);
    }
    if (this.#busy.has(conversation)) {
      throw new Refusal(null, "Another process is currently operating on this one.", "conversation_locked", 409);
    }
    this.#busy.add(conversation);
    const release = () => void this.#busy.delete(conversation);
    await work(release).finally(release);
  }

  async #send(outgoing: ServerResponse, reply: ResponsesReply, body: Fields, context: Context): Promise<void> {
    if (reply === "silence") {
      await new Promise((resolve) => outgoing.on("close", resolve));
      return;
    }
    if ("status" in reply) {
      outgoing.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
      outgoing.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body));
    } else if ("stream" in reply) {
      await deliver(outgoing, eventStream(outgoing, reply.stream), reply.delivery);
    } else {
      const { answer, delivery } = "answer" in reply ? reply : { answer: reply, delivery: undefined };
      await this.#answer(outgoing, answer, delivery, body, context);
    }
  }

  async #answer(
    outgoing: ServerResponse,
    answer: ResponsesAnswer,
    delivery: Delivery | undefined,
    body: Fields,
    context: Context,
  ): Promise<void> {
    const count = this.requests.length;
    const id = `resp_${count}_${this.#secret.replace(" ", "")}`;
    const isEncrypted = Array.isArray(body["include"]) && body["include"].includes("reasoning.encrypted_content");
    const encrypt = isEncrypted ? (item: string) => btoa(`${this.#secret} ${item}`) : undefined;
    const output = outputItems(answer, count, encrypt);
    const response = responseBody(answer, id, body, output);
    const text = body["stream"] === true ? eventStream(outgoing, eventsOf(response, output)) : json(outgoing, response);
    await deliver(outgoing, text, delivery, () => {
      if (answer.failed === undefined) {
        this.#keep(response, body, context.before, output);
      }
      context.release();
    });
  }

  /** Only what came to its end is kept. */
  #keep(response: Fields, body: Fields, context: readonly Fields[], output: readonly Fields[]): void {
    for (const [index, item] of output.entries()) {
      const encrypted = item["encrypted_content"];
      const partner = output[index + 1];
      if (typeof encrypted === "string" && partner !== undefined) {
        this.#partners.set(encrypted, partner);
      }
    }
    if (body["store"] !== false) {
      const id = String(response["id"]);
      this.#responses.set(id, response);
      this.kept.set(id, [...context, ...output]);
    }
    if (typeof body["conversation"] === "string") {
      this.kept.set(body["conversation"], [...context, ...output]);
    }
  }
}

function eventStream(outgoing: ServerResponse, events: readonly (Fields | string)[]): string {
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  const text = events.map((event) =>
    typeof event === "string" ? event : `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  return text.join("");
}

function json(outgoing: ServerResponse, response: Fields): string {
  outgoing.writeHead(200, { "content-type": "application/json" });
  return JSON.stringify(response);
}
