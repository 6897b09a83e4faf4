import type { ChatClient, ChatRequestOptions, ChatUpdate, Message } from "@agentfw/core";
import { AnswerReader } from "./answer-reader.ts";
import { pieceFromChunk, pieceFromCompletion } from "./chat-answer.ts";
import { type ChatBody, chatBody, type RequestFormat } from "./chat-request.ts";
import { type ClientKind, type OpenAILike, openConnection } from "./connection.ts";
import { type Api, Endpoint } from "./endpoint.ts";
import { type OpenAIChatClientOptions, requestFormat } from "./options.ts";

const CLIENT: ClientKind<OpenAILike> = {
  ofDriver: (driver) => driver,
  isClient: (client) => typeof client.chat?.completions?.create === "function",
  method: "chat.completions.create",
};

/**
 * Chat Completions, at OpenAI or at any compatible server through `baseURL`.
 *
 * *Conversation*: the service keeps none; the messages of a call are all it sees. *Concurrency*: an instance holds no
 * state of a call, so any number may run at once. *Completeness*: an answer that the service did not end is an error
 * after its pieces. *Failure*: every error is an `AgentFrameworkError` with one of the codes of the README's table, but
 * for an abort, which throws the signal's reason. *Security*: errors name no key, address, header or text; their
 * `cause` may.
 */
export class OpenAIChatClient implements ChatClient {
  readonly contractVersion: 1 = 1;
  /** Chat Completions keeps no conversations; `store: true` keeps a copy for the service's own tools only. */
  readonly storesByDefault: boolean = false;
  /** The model that is asked when a call names none. */
  readonly model: string;
  /** One answer in one piece; there with `streaming: false` only. Fails as `stream` does. */
  readonly complete?: (messages: readonly Message[], options?: ChatRequestOptions) => Promise<ChatUpdate>;

  readonly #endpoint: Endpoint<ChatBody>;

  /**
   * Checks the options. Sends nothing.
   *
   * @throws `configuration` naming the option and the rule.
   */
  constructor(options: OpenAIChatClientOptions) {
    const format = requestFormat(options);
    const connection = openConnection<OpenAILike>(options, CLIENT);
    const endpoint = new Endpoint(chatApi(connection.client, format), connection, options.streaming ?? true);
    this.#endpoint = endpoint;
    this.model = format.model;
    if (options.streaming === false) {
      this.complete = (messages, callOptions = {}) => endpoint.complete(messages, callOptions);
    }
  }

  /**
   * Streams one answer; with `streaming: false` it comes as a single update. Can be iterated once. Nothing is sent before
   * the first update is asked for, and ending the iteration cancels the request, also while an update is awaited.
   *
   * @throws `configuration` and `unsupported` before anything is sent; otherwise what the service or the network did.
   */
  stream(messages: readonly Message[], options: ChatRequestOptions = {}): AsyncIterable<ChatUpdate> {
    return this.#endpoint.stream(messages, options);
  }
}

function chatApi(client: OpenAILike, format: RequestFormat): Api<ChatBody> {
  return {
    operation: "chat completion",
    body: (messages, options, stream) => chatBody(messages, options, format, stream),
    send: (body, options) => client.chat.completions.create(body, options),
    reader: () => {
      const reader = new AnswerReader();
      return {
        read: (chunk) => {
          const update = reader.read(pieceFromChunk(chunk));
          return update === undefined ? [] : [update];
        },
        end: () => reader.end(),
      };
    },
    whole: (completion) => {
      const piece = pieceFromCompletion(completion);
      const reader = new AnswerReader();
      const update = reader.read(piece);
      const end = reader.end(piece);
      return [{ ...update, ...end, contents: [...(update?.contents ?? []), ...(end.contents ?? [])] }];
    },
  };
}
