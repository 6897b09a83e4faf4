import type { ConversationPlace } from "../context-provider.ts";
import { AgentFrameworkError, configurationError } from "../errors.ts";
import { copyPlain, isPlainObject, type Json, setOwn } from "../json.ts";
import type { Message } from "../message.ts";
import { messageFromJson, messagesFromInput, messageToJson } from "../message-codec.ts";
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
      throw new AgentFrameworkError("unsupported", "conditionalAppend: the store does not offer it");
    }
  }

  /** Runs of one session are queued on the session itself. */
  conversationPlace(session: AgentSession): ConversationPlace {
    return { scope: session, key: "" };
  }

  /**
   * Replaces the conversation of a session.
   *
   * @throws `configuration` naming the path of what does not fit, also of an id that is missing or repeated; the old
   * conversation stays.
   */
  setMessages(session: AgentSession, messages: readonly Message[]): void {
    const parsed = messagesFromInput(messages, (index) => {
      throw configurationError(`messages[${index}].messageId`, "must be a non-empty string");
    });
    setSlice(
      session,
      this.sourceId,
      parsed.map((message) => messageToJson(message)),
    );
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

  async append(messages: readonly Message[]): Promise<{ version: string; appended: number }> {
    const stored = this.#stored();
    const ids = idsOf(stored);
    // All of it is made before any of it is stored.
    const fresh = messages.filter(({ messageId }) => !ids.has(messageId)).map((message) => messageToJson(message));
    stored.push(...fresh);
    for (const { messageId } of messages) {
      ids.add(messageId);
    }
    setSlice(this.#session, this.#sourceId, stored);
    return { version: String(stored.length), appended: fresh.length };
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
  if (known?.size === stored.length) {
    return known;
  }
  const ids = new Set(stored.map((json) => (isPlainObject(json) ? json["messageId"] : undefined)));
  knownIds.set(stored, ids);
  return ids;
}

function setSlice(session: AgentSession, sourceId: string, messages: readonly Json[]): void {
  setOwn(session.state, sourceId, { messages });
}
