import {
  type AgentFrameworkError,
  type ChatClient,
  type ChatRequestOptions,
  type ChatUpdate,
  isAgentFrameworkError,
  type Message,
} from "@agentfw/core";
import { type ClientKind, type OpenAIResponsesLike, openConnection } from "./connection.ts";
import { type Api, type Ask, Endpoint } from "./endpoint.ts";
import { type OpenAIResponsesClientOptions, responsesFormat } from "./responses-options.ts";
import { ResponsesReader } from "./responses-reader.ts";
import {
  isEncryptionRefused,
  isInputRefused,
  isReasoningRefused,
  type ResponsesCall,
  withConversationEnds,
  withoutEncryption,
  withoutReasoning,
} from "./responses-repairs.ts";
import { type ResponsesFormat, responsesBody } from "./responses-request.ts";

const OPERATION = "response";

/** As many as the service gives at once; what a conversation waits for is among its newest items. */
const NEWEST_ITEMS = { order: "desc", limit: 100 };

const CLIENT: ClientKind<OpenAIResponsesLike> = {
  ofDriver: (driver) => driver,
  isClient: (client) => typeof client.responses?.create === "function",
  method: "responses.create",
};

/**
 * The Responses API, at OpenAI or at any compatible server through `baseURL`.
 *
 * *Conversation*: with `store`, the service keeps it, and each answer says the id to continue with: that of the
 * conversation, or that of the response itself. Without, the messages of a call are all it sees, and reasoning travels in
 * its encrypted form. *Concurrency*: an instance holds no state of a call, so any number may run at once.
 * *Completeness*: an answer that the service did not complete is an error after its pieces, and cannot be continued.
 * *Failure*: every error is an `AgentFrameworkError` with one of the codes of the README's table, but for an abort, which
 * throws the signal's reason. *Security*: errors name no key, address, header or text; their `cause` may.
 */
export class OpenAIResponsesClient implements ChatClient {
  readonly contractVersion: 1 = 1;
  /** Whether the service keeps a conversation when a call does not say; the option `store`. */
  readonly storesByDefault: boolean;
  /** The model that is asked when a call names none. */
  readonly model: string;
  /** One answer in one piece; there with `streaming: false` only. Fails as `stream` does. */
  readonly complete?: (messages: readonly Message[], options?: ChatRequestOptions) => Promise<ChatUpdate>;

  readonly #endpoint: Endpoint<ResponsesCall>;

  /**
   * Checks the options. Sends nothing.
   *
   * @throws `configuration` naming the option and the rule.
   */
  constructor(options: OpenAIResponsesClientOptions) {
    const format = responsesFormat(options);
    const connection = openConnection<OpenAIResponsesLike>(options, CLIENT);
    const endpoint = new Endpoint(new ResponsesApi(connection.client, format), connection, options.streaming ?? true);
    this.#endpoint = endpoint;
    this.model = format.model;
    this.storesByDefault = format.store;
    if (options.streaming === false) {
      this.complete = (messages, callOptions = {}) => endpoint.complete(messages, callOptions);
    }
  }

  /**
   * Streams one answer; with `streaming: false` each of its messages comes as one update. Can be iterated once. Nothing is
   * sent before the first update is asked for, and ending the iteration cancels the request, also while an update is
   * awaited.
   *
   * @throws `configuration` and `unsupported` before anything is sent; otherwise what the service or the network did.
   */
  stream(messages: readonly Message[], options: ChatRequestOptions = {}): AsyncIterable<ChatUpdate> {
    return this.#endpoint.stream(messages, options);
  }
}

class ResponsesApi implements Api<ResponsesCall> {
  readonly operation = OPERATION;
  readonly #client: OpenAIResponsesLike;
  readonly #format: ResponsesFormat;
  /** Models that are known to have no encrypted reasoning. */
  readonly #unencrypted = new Set<string>();

  constructor(client: OpenAIResponsesLike, format: ResponsesFormat) {
    this.#client = client;
    this.#format = format;
  }

  body(messages: readonly Message[], options: ChatRequestOptions, stream: boolean): ResponsesCall {
    const call = { body: responsesBody(messages, options, this.#format, stream), repairs: [] };
    return this.#unencrypted.has(call.body.model) ? withoutEncryption(call) : call;
  }

  send({ body }: ResponsesCall, options: Parameters<OpenAIResponsesLike["responses"]["create"]>[1]) {
    return this.#client.responses.create(body, options);
  }

  reader({ body, repairs }: ResponsesCall): ResponsesReader {
    return new ResponsesReader({ operation: OPERATION, store: body.store, conversation: body.conversation, repairs });
  }

  whole(response: unknown, call: ResponsesCall): ChatUpdate[] {
    return this.reader(call).whole(response);
  }

  async amend(error: AgentFrameworkError, call: ResponsesCall, ask: Ask): Promise<ResponsesCall | undefined> {
    if (isEncryptionRefused(error, call)) {
      this.#unencrypted.add(call.body.model);
      return withoutEncryption(call);
    }
    if (isReasoningRefused(error, call)) {
      return withoutReasoning(call);
    }
    const lookUp = isInputRefused(error, call) ? this.#lookUpOf(call) : undefined;
    if (lookUp === undefined) {
      return undefined;
    }
    try {
      return withConversationEnds(call, await ask(lookUp));
    } catch (failure) {
      // What the service refused is what the caller must hear of; an abort goes first.
      if (isAgentFrameworkError(failure)) {
        return undefined;
      }
      throw failure;
    }
  }

  /** How to find what a conversation waits for; a response waits for nothing but its own calls. */
  #lookUpOf({ body }: ResponsesCall): Parameters<Ask>[0] | undefined {
    const { conversations, responses } = this.#client;
    const { conversation, previous_response_id: previous } = body;
    if (conversation !== undefined && conversations !== undefined) {
      return (options) => conversations.items.list(conversation, NEWEST_ITEMS, options);
    }
    if (previous !== undefined && responses.retrieve !== undefined) {
      return (options) => responses.retrieve?.(previous, {}, options) ?? Promise.resolve(undefined);
    }
    return undefined;
  }
}
