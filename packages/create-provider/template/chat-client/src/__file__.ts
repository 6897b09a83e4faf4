import type { ChatClient, ChatRequestOptions, ChatUpdate, Message } from "@agentfw/core";
import { notWritten } from "./errors.ts";
import { type __class__Options, resolveOptions } from "./options.ts";

/**
 * Models of __name__. One instance serves any number of runs at once and keeps no conversation of its own.
 *
 * The constructor checks the options and does nothing else.
 */
export class __class__ implements ChatClient {
  readonly contractVersion: 1 = 1;

  /** True when the service keeps the conversation unless `store: false` is said. */
  readonly storesByDefault = false;

  /** @throws `configuration` naming the option and the rule. */
  constructor(options: __class__Options) {
    resolveOptions(options);
  }

  /**
   * Streams one answer. Sends nothing before the first piece is asked for; an answer that breaks off throws after its
   * pieces.
   */
  async *stream(_messages: readonly Message[], _options: ChatRequestOptions): AsyncGenerator<ChatUpdate, void> {
    yield await notWritten("stream");
  }
}
