import type { ConversationPlace } from "../context-provider.ts";
import { AgentFrameworkError, configurationError } from "../errors.ts";
import { copyPlain, isPlainObject, type Json, setOwn } from "../json.ts";
import type { Message } from "../message.ts";
import { messageFromJson, messageToJson } from "../message-codec.ts";
import { type HistoryPolicy, MessageHistoryProvider } from "../message-history-provider.ts";
import type { MessageLog, MessageLogPage, MessageLogReadOptions } from "../message-log.ts";
import type { AgentSession } from "../session.ts";

/** Options of {@link InMemoryHistoryProvider}. */
export type InMemoryHistoryProviderOptions = HistoryPolicy;

/**
 * Keeps the whole conversation in `session.state`, so that it travels with the session: serialize the session and the
 * conversation is in it. What an agent uses when no history provider is given.
 */
export class InMemoryHistoryProvider extends MessageHistoryProvider {
  constructor(options: InMemoryHistoryProviderOptions = {}) {
    super(options, "in_memory");
    if (options.conditionalAppend) {
      throw new AgentFrameworkError("unsupported", "conditionalAppend: messages in the session have no other writers");
    }
  }

  /** Runs of one session are queued on the session itself. */
  conversationPlace(session: AgentSession): ConversationPlace {
    return { scope: session, key: "" };
  }

  /** Replaces the conversation of a session. @throws `configuration` for messages without a distinct id. */
  setMessages(session: AgentSession, messages: readonly Message[]): void {
    const ids = new Set(messages.map((message) => message.messageId));
    if (ids.size !== messages.length || ids.has("")) {
      throw configurationError("messages", "must each have a messageId of its own");
    }
    const stored = messages.map((message, index) => messageToJson(message, `messages[${index}]`));
    setSlice(session, this.sourceId, stored);
  }

  protected open(session: AgentSession): MessageLog {
    return new SessionMessageLog(session, this.sourceId);
  }
}

/** The messages in one slice of a session's state, in their stored form. */
class SessionMessageLog implements MessageLog {
  readonly #session: AgentSession;
  readonly #sourceId: string;

  constructor(session: AgentSession, sourceId: string) {
    this.#session = session;
    this.#sourceId = sourceId;
  }

  async read(options: MessageLogReadOptions = {}): Promise<MessageLogPage> {
    const stored = this.#stored();
    const end = options.before === undefined ? stored.length : Number(options.before);
    const start = options.last === undefined ? 0 : Math.max(0, end - options.last);
    return {
      messages: stored.slice(start, end).map((json, index) => this.#decode(json, start + index)),
      version: String(stored.length),
      older: start > 0 ? String(start) : undefined,
      first: options.withFirst && stored[0] !== undefined ? this.#decode(stored[0], 0) : undefined,
    };
  }

  async append(messages: readonly Message[]): Promise<string> {
    const stored = this.#stored();
    const ids = idsOf(stored);
    for (const message of messages) {
      if (!ids.has(message.messageId)) {
        stored.push(messageToJson(message));
        ids.add(message.messageId);
      }
    }
    setSlice(this.#session, this.#sourceId, stored);
    return String(stored.length);
  }

  #stored(): Json[] {
    const { state } = this.#session;
    if (!Object.hasOwn(state, this.#sourceId)) {
      return [];
    }
    const slice = state[this.#sourceId];
    const messages: unknown = isPlainObject(slice) ? slice["messages"] : undefined;
    if (!Array.isArray(messages)) {
      throw new AgentFrameworkError("corrupt", `state.${this.#sourceId}: holds no list of messages`);
    }
    return messages;
  }

  #decode(json: Json, index: number): Message {
    try {
      return messageFromJson(copyPlain(json));
    } catch (cause) {
      const position = `state.${this.#sourceId}.messages[${index}]`;
      throw new AgentFrameworkError("corrupt", "a stored message cannot be read", { position, cause });
    }
  }
}

/** The ids in a list, remembered so that an append does not cost more the longer the conversation is. */
const knownIds = new WeakMap<readonly Json[], Set<unknown>>();

function idsOf(stored: readonly Json[]): Set<unknown> {
  const known = knownIds.get(stored);
  if (known !== undefined && known.size === stored.length) {
    return known;
  }
  const ids = new Set(stored.map((json) => (isPlainObject(json) ? json["messageId"] : undefined)));
  knownIds.set(stored, ids);
  return ids;
}

function setSlice(session: AgentSession, sourceId: string, messages: readonly Json[]): void {
  setOwn(session.state, sourceId, { messages });
}
