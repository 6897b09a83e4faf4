import type { ConversationPlace } from "./context-provider.ts";
import { Conversation, type ConversationSettings } from "./conversation.ts";
import { AgentFrameworkError } from "./errors.ts";
import { type HistoryPolicy, MessageHistoryProvider } from "./message-history-provider.ts";
import type { MessageLog } from "./message-log.ts";
import type { HistoryStore } from "./ports/history-store.ts";
import type { HistoryKey } from "./ports/history-types.ts";
import type { AgentSession } from "./session.ts";
import { assertContractVersion, assertSession, historyKeyText } from "./store-input.ts";

/** Options of {@link HistoryProvider}. */
export interface HistoryProviderOptions extends HistoryPolicy, ConversationSettings {}

/**
 * Keeps the conversation of a session in a {@link HistoryStore}. The conversation is named by the session's owner, this
 * provider's source id and the session id, so two providers on one store never mix.
 *
 * Loaded history is untrusted input to the model: whoever can write to the store can put words in it.
 *
 * @throws `configuration` for options that do not fit; `unsupported` for a store made for a later contract, and for
 * `conditionalAppend` on a store that does not declare it.
 */
export class HistoryProvider extends MessageHistoryProvider {
  readonly store: HistoryStore;
  readonly #settings: ConversationSettings;

  constructor(store: HistoryStore, options: HistoryProviderOptions = {}) {
    super(options, "history");
    assertContractVersion(store, "store");
    if (options.conditionalAppend && !store.capabilities.conditionalAppend) {
      throw new AgentFrameworkError("unsupported", "conditionalAppend: the store does not offer it");
    }
    this.#settings = { ...options };
    this.store = store;
    // A setting that does not fit is found now, not at the first run.
    new Conversation(store, { owner: null, source: this.sourceId, session: "-" }, this.#settings);
  }

  /** This provider's conversation of a session, for reading, editing and clearing it. Does no I/O. */
  conversation(session: AgentSession): Conversation {
    assertSession(session);
    return new Conversation(this.store, this.#key(session), this.#settings);
  }

  conversationPlace(session: AgentSession): ConversationPlace {
    return { scope: this.store, key: historyKeyText(this.#key(session)) };
  }

  protected open(session: AgentSession): MessageLog {
    return this.conversation(session);
  }

  #key(session: AgentSession): HistoryKey {
    return { owner: session.owner, source: this.sourceId, session: session.sessionId };
  }
}
