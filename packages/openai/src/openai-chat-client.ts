import type { ChatClient, ChatRequestOptions, ChatUpdate, Message } from "@agentfw/core";
import { AnswerReader } from "./answer-reader.ts";
import { Call } from "./call.ts";
import { pieceFromChunk, pieceFromCompletion } from "./chat-answer.ts";
import { chatBody, type RequestFormat } from "./chat-request.ts";
import { type Connection, openConnection } from "./connection.ts";
import { type OpenAIChatClientOptions, requestFormat } from "./options.ts";
import { cancellable, readPieces } from "./streaming.ts";

const OPERATION = "chat completion";

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

  readonly #connection: Connection;
  readonly #format: RequestFormat;

  /**
   * Checks the options. Sends nothing.
   *
   * @throws `configuration` naming the option and the rule.
   */
  constructor(options: OpenAIChatClientOptions) {
    this.#format = requestFormat(options);
    this.#connection = openConnection(options);
    this.model = this.#format.model;
    if (options.streaming === false) {
      this.complete = (messages, callOptions = {}) => this.#complete(messages, callOptions);
    }
  }

  /**
   * Streams one answer; with `streaming: false` it comes as a single update. Can be iterated once. Nothing is sent before
   * the first update is asked for, and ending the iteration cancels the request, also while an update is awaited.
   *
   * @throws `configuration` and `unsupported` before anything is sent; otherwise what the service or the network did.
   */
  stream(messages: readonly Message[], options: ChatRequestOptions = {}): AsyncIterable<ChatUpdate> {
    return cancellable(this.#newCall(options), (call) => this.#answer(messages, options, call));
  }

  async *#answer(
    messages: readonly Message[],
    options: ChatRequestOptions,
    call: Call,
  ): AsyncGenerator<ChatUpdate, void> {
    if (this.complete !== undefined) {
      yield await this.#whole(messages, options, call);
      return;
    }
    const reader = new AnswerReader();
    const answer = await this.#send(messages, options, call, true);
    for await (const chunk of readPieces(answer, call)) {
      const update = reader.read(pieceFromChunk(chunk));
      if (update !== undefined) {
        yield update;
      }
    }
    yield reader.end();
  }

  async #complete(messages: readonly Message[], options: ChatRequestOptions): Promise<ChatUpdate> {
    const call = this.#newCall(options)();
    try {
      return await this.#whole(messages, options, call);
    } finally {
      call.release();
    }
  }

  async #whole(messages: readonly Message[], options: ChatRequestOptions, call: Call): Promise<ChatUpdate> {
    const piece = pieceFromCompletion(await this.#send(messages, options, call, false));
    const reader = new AnswerReader();
    const update = reader.read(piece);
    const end = reader.end(piece);
    return { ...update, ...end, contents: [...(update?.contents ?? []), ...(end.contents ?? [])] };
  }

  async #send(
    messages: readonly Message[],
    options: ChatRequestOptions,
    call: Call,
    stream: boolean,
  ): Promise<unknown> {
    const body = chatBody(messages, options, this.#format, stream);
    const requestOptions = await call.wait(() => this.#connection.requestOptions(call.signal));
    return call.wait(() => this.#connection.client.chat.completions.create(body, requestOptions));
  }

  #newCall({ signal }: ChatRequestOptions): () => Call {
    return () => new Call(OPERATION, this.#connection.timeoutMs, signal);
  }
}
