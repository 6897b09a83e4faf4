import {
  type AgentFrameworkError,
  type ChatRequestOptions,
  type ChatUpdate,
  isAgentFrameworkError,
  type Message,
} from "@agentfw/core";
import { Call } from "./call.ts";
import type { Connection, OpenAIRequestOptions } from "./connection.ts";
import { cancellable, readPieces } from "./streaming.ts";

/** Reads one streamed answer. */
export interface StreamReader {
  /** What a piece of the stream adds. */
  read(piece: unknown): readonly ChatUpdate[];
  /** The closing update, unless it was given already. @throws `unavailable` when the answer broke off. */
  end(): ChatUpdate | undefined;
  /** True once the answer is whole, so that the connection may break without harm. */
  readonly isOver?: boolean;
}

/** Asks the service for something else on behalf of a call. */
export type Ask = (request: (options: OpenAIRequestOptions) => PromiseLike<unknown>) => Promise<unknown>;

/** How one API is asked and how it answers. */
export interface Api<Body> {
  /** Named in errors. */
  readonly operation: string;
  body(messages: readonly Message[], options: ChatRequestOptions, stream: boolean): Body;
  send(body: Body, options: OpenAIRequestOptions): PromiseLike<unknown>;
  reader(body: Body): StreamReader;
  /** The messages of an answer in one piece, the closing update among or behind them. */
  whole(answer: unknown, body: Body): readonly ChatUpdate[];
  /** The request to send in place of one that the service refused, if there is one. */
  amend?(error: AgentFrameworkError, body: Body, ask: Ask): Promise<Body | undefined>;
}

/** A request has few things that can be amended; a service that refuses each amendment must not be asked for ever. */
const MOST_AMENDMENTS = 3;

/** What the clients of all APIs do alike: deadlines, aborts, typed errors, streams that end early. */
export class Endpoint<Body> {
  readonly #api: Api<Body>;
  readonly #connection: Connection<unknown>;
  readonly #streaming: boolean;

  constructor(api: Api<Body>, connection: Connection<unknown>, streaming: boolean) {
    this.#api = api;
    this.#connection = connection;
    this.#streaming = streaming;
  }

  /** One answer as it comes, or as a single update. */
  stream(messages: readonly Message[], options: ChatRequestOptions): AsyncIterable<ChatUpdate> {
    return cancellable(this.#newCall(options), (call) => this.#answer(messages, options, call));
  }

  /** One answer in one piece. */
  async complete(messages: readonly Message[], options: ChatRequestOptions): Promise<ChatUpdate> {
    const call = this.#newCall(options)();
    try {
      return joined(await this.#whole(messages, options, call));
    } finally {
      call.release();
    }
  }

  async *#answer(
    messages: readonly Message[],
    options: ChatRequestOptions,
    call: Call,
  ): AsyncGenerator<ChatUpdate, void> {
    if (!this.#streaming) {
      yield* await this.#whole(messages, options, call);
      return;
    }
    const { answer, body } = await this.#send(this.#api.body(messages, options, true), call);
    const reader = this.#api.reader(body);
    try {
      for await (const piece of readPieces(answer, call)) {
        yield* reader.read(piece);
      }
    } catch (error) {
      // An abort is heard of all the same.
      if (!reader.isOver || !isAgentFrameworkError(error)) {
        throw error;
      }
    }
    const last = reader.end();
    if (last !== undefined) {
      yield last;
    }
  }

  async #whole(messages: readonly Message[], options: ChatRequestOptions, call: Call): Promise<readonly ChatUpdate[]> {
    const { answer, body } = await this.#send(this.#api.body(messages, options, false), call);
    return this.#api.whole(answer, body);
  }

  async #send(first: Body, call: Call): Promise<{ answer: unknown; body: Body }> {
    const requestOptions = await call.wait(() => this.#connection.requestOptions(call.signal));
    const ask: Ask = (request) => call.wait(() => request(requestOptions));
    let body = first;
    for (let amendments = 0; ; amendments += 1) {
      const current = body;
      try {
        return { answer: await ask((options) => this.#api.send(current, options)), body };
      } catch (error) {
        const isOurs = isAgentFrameworkError(error) && amendments < MOST_AMENDMENTS;
        const amended = isOurs ? await this.#api.amend?.(error, body, ask) : undefined;
        if (amended === undefined) {
          throw error;
        }
        body = amended;
      }
    }
  }

  #newCall({ signal }: ChatRequestOptions): () => Call {
    return () => new Call(this.#api.operation, this.#connection.timeoutMs, signal);
  }
}

/** Everything in one update, under the first one's name. */
function joined(updates: readonly ChatUpdate[]): ChatUpdate {
  const { messageId } = updates[0] ?? {};
  const contents = updates.flatMap((update) => update.contents ?? []);
  return Object.assign({}, ...updates, { contents }, messageId === undefined ? {} : { messageId });
}
