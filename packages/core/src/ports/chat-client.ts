import type { Message } from "../message.ts";
import type { ChatRequestOptions, ChatUpdate } from "./chat-types.ts";

/**
 * A model service. The messages are valid for a model: every tool call has its results right behind it, approval
 * contents are gone, and instructions are in the options only.
 *
 * A client keeps no conversation of its own and may be used by any number of runs at once. A call that fails throws;
 * an answer that breaks off in the middle throws after its pieces, and never ends as if it were complete.
 */
export interface ChatClient {
  readonly contractVersion: 1;

  /** True when the service keeps the conversation unless `store: false` is said. */
  readonly storesByDefault: boolean;

  /**
   * Streams one answer. Nothing is sent before the first piece is asked for. Ending the iteration early or aborting
   * `options.signal` cancels the request; an abort throws the signal's reason.
   */
  stream(messages: readonly Message[], options: ChatRequestOptions): AsyncIterable<ChatUpdate>;

  /** One answer in one piece, for models that cannot stream. A run uses it in place of `stream` where it exists alone. */
  complete?(messages: readonly Message[], options: ChatRequestOptions): Promise<ChatUpdate>;
}
