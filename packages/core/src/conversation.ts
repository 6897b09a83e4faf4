import { assertTimeout, withDeadline } from "./deadline.ts";
import { type DiagnosticHandler, report } from "./diagnostics.ts";
import { AgentFrameworkError, configurationError, isAbortError, isAgentFrameworkError } from "./errors.ts";
import { loadWindow, pageOf } from "./history-window.ts";
import type { Message } from "./message.ts";
import {
  jsonMessageCodec,
  type MessageCodec,
  type MessagesInput,
  messageFromText,
  messagesFromInput,
  storedForm,
} from "./message-codec.ts";
import type { MessageLog, MessageLogPage, MessageLogReadOptions } from "./message-log.ts";
import { KnownRecord } from "./message-record.ts";
import type { HistoryStore } from "./ports/history-store.ts";
import type { CallOptions, HistoryKey, HistoryPage, HistoryRecord } from "./ports/history-types.ts";
import {
  assertCallOptions,
  assertContractVersion,
  assertHistoryKey,
  assertObject,
  assertOneOf,
  assertReadOptions,
} from "./store-input.ts";

/** How messages are kept in a store; shared by {@link openConversation} and the history provider. */
export interface ConversationSettings {
  /** How a message becomes a record. @default its JSON */
  readonly codec?: MessageCodec | undefined;
  /** What one unreadable record means: reject with `corrupt`, or skip and report it. @default "error" */
  readonly onCorrupt?: "error" | "skip" | undefined;
  /** Every call of the store and the codec settles within this time, whatever they do. @default 10,000 */
  readonly timeoutMs?: number | undefined;
  readonly onDiagnostic?: DiagnosticHandler | undefined;
}

/** Options of {@link openConversation}. */
export interface OpenConversationOptions extends ConversationSettings {
  /** The trusted owner; `null` for a conversation that nobody owns. */
  readonly owner: string | null;
  readonly sessionId: string;
  /** The source id of the provider whose messages these are. @default "history" */
  readonly source?: string | undefined;
}

/** Options of {@link Conversation.messages}. */
export interface ConversationReadOptions extends CallOptions {
  /** At most this many messages, cut on whole groups; a newest group that is longer comes whole. @default all */
  readonly last?: number | undefined;
  /** The `older` of a page that was read before. */
  readonly before?: string | undefined;
}

/** The messages of one stored conversation, without any agent. */
export class Conversation implements MessageLog {
  readonly key: HistoryKey;
  readonly #store: HistoryStore;
  readonly #settings: CheckedSettings;
  /** Other codecs may be asynchronous, and must not hang a run. */
  readonly #isJson: boolean;

  constructor(store: HistoryStore, key: HistoryKey, settings: ConversationSettings = {}) {
    this.key = key;
    this.#store = store;
    this.#settings = checkedSettings(settings);
    this.#isJson = this.#settings.codec === jsonMessageCodec;
  }

  /**
   * The newest messages as they are stored, oldest first, cut so that no call loses its results nor a message its
   * reasoning. `older` continues with the messages before these. A result that was stored further behind its call than
   * the page reaches is in no page; read without `last` for it.
   *
   * @throws `corrupt` for an unreadable record unless `onCorrupt` is `"skip"`; `unavailable`, `timeout`.
   */
  async messages(options: ConversationReadOptions = {}): Promise<MessageLogPage> {
    assertReadOptions(options);
    const { last, before, signal } = options;
    if (last === undefined) {
      return this.read({ before, signal });
    }
    const window = await loadWindow(this, { maxMessages: last, before, signal });
    const messages = pageOf(window, last);
    const first = messages[0];
    const hasOlder = window.hasOlder || messages.length < window.messages.length;
    const older =
      hasOlder && first !== undefined
        ? await this.#cursorBefore(first.messageId, { last: window.messages.length, before, signal })
        : undefined;
    return { messages, version: window.version, older };
  }

  /**
   * The cursor to what stands before a message. Only the store can make one, at the edge of a page, so this reads the
   * page that begins with the message; skipped records and appends in between move that edge.
   */
  async #cursorBefore(
    messageId: string,
    options: MessageLogReadOptions & { last: number },
  ): Promise<string | undefined> {
    const { signal } = options;
    let { last, before } = options;
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const page = await this.read({ last, before, signal });
      const index = page.messages.findIndex((message) => message.messageId === messageId);
      if (index === 0) {
        return page.older;
      }
      if (before === undefined && attempt > 0) {
        // What stands before a cursor does not move, however much is appended.
        before = (await this.read({ last: 1, signal })).older;
      }
      last = index > 0 ? last - index : last * 2;
    }
    throw new AgentFrameworkError("conflict", "messages: the conversation changed while it was read");
  }

  /**
   * Appends messages: all or nothing, contiguous. A message whose id is stored is skipped. One without an id gets a
   * random one, so repeating the call stores it again.
   *
   * @returns The version of the conversation afterwards, and how many messages were not stored before.
   * @throws `configuration` naming what does not fit, `conflict` with `ifVersion`, `too_large`, `outcome_unknown`.
   */
  async append(
    messages: MessagesInput,
    options: CallOptions & { readonly ifVersion?: string | undefined } = {},
  ): Promise<{ readonly version: string; readonly appended: number }> {
    const parsed = messagesFromInput(messages, () => crypto.randomUUID());
    // What was checked holds JSON and bytes only.
    const known = (message: Message) =>
      new KnownRecord(message.messageId, JSON.stringify(storedForm(message)), message);
    const records = this.#isJson ? parsed.map(known) : await this.#encodeAll(parsed, options);
    return this.#call("append", "write", options, () => this.#store.append(this.key, records, options));
  }

  /**
   * Removes every message behind `messageId`, for edit and regenerate. The removed ids stay remembered by the store, so
   * what comes after must have ids of its own.
   *
   * @throws `not_found` when the message is not stored; `unsupported` when the store cannot replace; `conflict` when
   * another writer came in between.
   */
  async truncateAfter(messageId: string, options: CallOptions = {}): Promise<void> {
    const { replace } = this.#store;
    if (replace === undefined || !this.#store.capabilities.replace) {
      throw new AgentFrameworkError("unsupported", "truncateAfter: the store does not offer it");
    }
    const newest = await this.#page({ last: 100 }, options);
    const throughId = newest.records.at(-1)?.id;
    const fromId = await this.#idAfter(messageId, newest, options);
    if (fromId !== undefined && throughId !== undefined) {
      const ifVersion = this.#store.capabilities.conditionalAppend ? newest.version : undefined;
      await this.#call("replace", "write", options, () =>
        replace.call(this.#store, this.key, { fromId, throughId }, [], { ifVersion, signal: options.signal }),
      );
    }
  }

  /** The id of the record right behind a message; `undefined` when it is the last one. */
  async #idAfter(messageId: string, newest: HistoryPage, options: CallOptions): Promise<string | undefined> {
    let after: string | undefined;
    for (let page = newest; ; ) {
      const index = page.records.findIndex((record) => record.id === messageId);
      if (index >= 0) {
        return page.records[index + 1]?.id ?? after;
      }
      if (page.older === undefined) {
        throw new AgentFrameworkError("not_found", "truncateAfter: the message is not stored");
      }
      after = page.records[0]?.id ?? after;
      page = await this.#page({ last: 100, before: page.older }, options);
    }
  }

  /** Removes the conversation. */
  async clear(options: CallOptions = {}): Promise<void> {
    await this.#call("clear", "write", options, () => this.#store.clear(this.key, options));
  }

  /** The stored messages of a page, as the store cuts it. */
  async read(options: MessageLogReadOptions = {}): Promise<MessageLogPage> {
    const page = await this.#page(options, options);
    const decode = (records: readonly HistoryRecord[]) => {
      const work = () => this.#decodeAll(records);
      return this.#isJson ? work() : this.#inTime("decode", "read", options, work);
    };
    const messages = await decode(page.records);
    const first = page.first === undefined ? [] : await decode([page.first]);
    return { messages, version: page.version, older: page.older, first: first[0] };
  }

  async #page({ last, before, withFirst }: MessageLogReadOptions, call: CallOptions): Promise<HistoryPage> {
    const { onCorrupt } = this.#settings;
    const page = await this.#call("read", "read", call, () =>
      this.#store.read(this.key, { last, before, withFirst, onCorrupt, signal: call.signal }),
    );
    const isStuck = before !== undefined && page?.older === before;
    if (isStuck || !Array.isArray(page?.records)) {
      throw new AgentFrameworkError("corrupt", "read: the store gave no further page", { provider: this.key.source });
    }
    for (const position of page.corrupt ?? []) {
      this.#reportSkipped(position);
    }
    return page;
  }

  async #decodeAll(records: readonly HistoryRecord[]): Promise<Message[]> {
    const { codec, onCorrupt } = this.#settings;
    const messages: Message[] = [];
    for (const record of records) {
      try {
        const message = this.#isJson
          ? KnownRecord.messageOf(record, messageFromText)
          : await codec.decode(record.data, { key: this.key, recordId: record.id });
        if (message?.messageId !== record.id) {
          throw new AgentFrameworkError("corrupt", "messageId: must be the id of the record");
        }
        messages.push(message);
      } catch (cause) {
        if (isAgentFrameworkError(cause) && cause.code !== "corrupt") {
          throw cause;
        }
        if (onCorrupt === "skip") {
          this.#reportSkipped(record.id);
        } else {
          throw new AgentFrameworkError("corrupt", "a stored message cannot be read", { position: record.id, cause });
        }
      }
    }
    return messages;
  }

  #reportSkipped(position: string): void {
    report(this.#settings.onDiagnostic, {
      type: "corrupt_record_skipped",
      provider: this.key.source,
      message: "an unreadable record was skipped; it is still stored",
      sessionId: this.key.session,
      position,
    });
  }

  #encodeAll(messages: readonly Message[], options: CallOptions): Promise<HistoryRecord[]> {
    const encode = async (message: Message): Promise<HistoryRecord> => {
      const id = message.messageId;
      return { id, data: await this.#settings.codec.encode(message, { key: this.key, recordId: id }) };
    };
    return this.#inTime("encode", "read", options, () => Promise.all(messages.map(encode)));
  }

  #call<T>(name: string, kind: "read" | "write", call: CallOptions, operation: () => Promise<T>): Promise<T> {
    return this.#inTime(name, kind, call, operation).catch((cause: unknown) => {
      // A store that does not speak the framework's errors cannot say whether a write happened.
      const code = kind === "read" ? "unavailable" : "outcome_unknown";
      const isTyped = isAgentFrameworkError(cause) || isAbortError(cause) || call.signal?.aborted;
      const provider = this.key.source;
      throw isTyped ? cause : new AgentFrameworkError(code, `${name}: the store failed`, { provider, cause });
    });
  }

  #inTime<T>(name: string, kind: "read" | "write", call: CallOptions, operation: () => Promise<T>): Promise<T> {
    assertCallOptions(call);
    const { timeoutMs } = this.#settings;
    return withDeadline(name, { kind, signal: call.signal, timeoutMs, provider: this.key.source }, operation);
  }
}

interface CheckedSettings extends ConversationSettings {
  readonly codec: MessageCodec;
  readonly timeoutMs: number;
}

function checkedSettings(settings: ConversationSettings): CheckedSettings {
  assertObject(settings, "options", { onDiagnostic: "function" });
  const { codec = jsonMessageCodec, onCorrupt = "error", timeoutMs = 10_000, onDiagnostic } = settings;
  assertOneOf(onCorrupt, "onCorrupt", ["error", "skip"]);
  if (typeof codec?.encode !== "function" || typeof codec.decode !== "function") {
    throw configurationError("codec", "must have encode and decode");
  }
  assertTimeout(timeoutMs, "timeoutMs");
  return { codec, onCorrupt, timeoutMs, onDiagnostic };
}

/**
 * Opens the conversation of a session: messages over a store, for programs that keep their own agent loop. Does no I/O.
 *
 * @throws `configuration` for an empty id or a missing owner (`null` says that nobody owns it); `unsupported` for a
 * store made for a later contract.
 */
export function openConversation(store: HistoryStore, options: OpenConversationOptions): Conversation {
  assertContractVersion(store, "store");
  assertObject(options, "options");
  const { owner, sessionId, source = "history", ...settings } = options;
  const key = { owner, source, session: sessionId };
  assertHistoryKey(key);
  return new Conversation(store, key, settings);
}
