import type { ContextProvider, ConversationPlace } from "./context-provider.ts";
import { AgentFrameworkError, configurationError } from "./errors.ts";
import { openEndsOf, repair, resultIds } from "./history-repair.ts";
import { keepNewest, loadWindow } from "./history-window.ts";
import type { Message } from "./message.ts";
import {
  type CallSlot,
  groupMessages,
  groupToMessages,
  isDangling,
  isPendingApproval,
  openCalls,
} from "./message-groups.ts";
import type { MessageLog } from "./message-log.ts";
import type { Run } from "./run.ts";
import type { RunContext } from "./run-context.ts";
import type { AgentSession } from "./session.ts";
import { assertCallOptions, assertCount, assertName, assertObject, assertSession } from "./store-input.ts";

/** Changes what was loaded before the model sees it. The store is not touched. Whole groups are restored afterwards. */
export type HistoryReducer = (
  messages: readonly Message[],
  context: { readonly session: AgentSession; readonly signal: AbortSignal },
) => readonly Message[] | Promise<readonly Message[]>;

/** The policy of a history provider: what is loaded and what is stored. */
export interface HistoryPolicy {
  /** @default "history" ("in_memory" for the in-memory provider) */
  readonly sourceId?: string | undefined;
  /** Load the conversation before a run. `false` makes an audit provider that only writes. @default true */
  readonly load?: boolean | undefined;
  /** Load at most this many messages, cut on whole groups; a newest group that is longer is loaded whole. @default all */
  readonly maxMessages?: number | undefined;
  /** Also load the first message of the conversation, a stored system message for example. @default false */
  readonly keepFirst?: boolean | undefined;
  /** Store what the caller passed. @default true */
  readonly storeInputs?: boolean | undefined;
  /** Store what the model and the tools answered. @default true */
  readonly storeOutputs?: boolean | undefined;
  /** Store what context providers added: all of it, or that of these sources. Never history. @default false */
  readonly storeContext?: boolean | readonly string[] | undefined;
  /** Stores only the messages for which it is true. */
  readonly storeFilter?: ((message: Message) => boolean) | undefined;
  readonly reducer?: HistoryReducer | undefined;
  /**
   * Store what an aborted or abandoned stream had produced, marked as incomplete, and the input that led to it; without
   * any output nothing is stored. @default false
   */
  readonly keepPartial?: boolean | undefined;
  /** Refuse to store with `conflict` when another process wrote since the load. @default false */
  readonly conditionalAppend?: boolean | undefined;
}

const POLICY_TYPES = {
  load: "boolean",
  keepFirst: "boolean",
  storeInputs: "boolean",
  storeOutputs: "boolean",
  storeFilter: "function",
  reducer: "function",
  keepPartial: "boolean",
  conditionalAppend: "boolean",
} as const;

/** What a provider knows about one run. */
interface RunNotes {
  readonly log: MessageLog;
  readonly repairs: Message[];
  readonly stored: Set<string>;
  version: string | undefined;
  /** True after a write that failed: what it held may be stored. */
  isUncertain: boolean;
  /** Writes of one run go one after another, so that their order is the order of the run. */
  writing: Promise<void> | undefined;
}

/**
 * What every history provider does, wherever it keeps its messages: loads whole groups, closes calls that a crash left
 * open, stores context, input and response in this order, and nothing of a failed run.
 *
 * Holds nothing about a session: notes about a run are dropped with it. Runs of different sessions may be concurrent;
 * the agent queues those of one conversation.
 */
export abstract class MessageHistoryProvider implements ContextProvider {
  readonly sourceId: string;
  readonly loadsHistory: boolean;
  readonly #policy: HistoryPolicy;
  readonly #notes = new WeakMap<Run, RunNotes>();

  constructor(policy: HistoryPolicy, defaultSourceId: string) {
    assertObject(policy, "options", POLICY_TYPES);
    const { sourceId = defaultSourceId, maxMessages, load = true, storeContext } = policy;
    assertName(sourceId, "sourceId");
    if (maxMessages !== undefined) {
      assertCount(maxMessages, "maxMessages", 1);
    }
    if (storeContext !== undefined && typeof storeContext !== "boolean" && !Array.isArray(storeContext)) {
      throw configurationError("storeContext", "must be a boolean or source ids");
    }
    this.sourceId = sourceId;
    this.loadsHistory = load;
    this.#policy = policy;
  }

  /** The messages of a session. */
  protected abstract open(session: AgentSession): MessageLog;

  abstract conversationPlace(session: AgentSession): ConversationPlace;

  /**
   * This provider's stored messages of a session, as they are stored, oldest first.
   *
   * @throws as the store does; a failure is never an empty history.
   */
  async getMessages(session: AgentSession, options: { readonly signal?: AbortSignal } = {}): Promise<Message[]> {
    assertSession(session);
    assertCallOptions(options);
    const page = await this.open(session).read({ signal: options.signal });
    return [...page.messages];
  }

  async beforeRun(context: RunContext): Promise<void> {
    if (!this.loadsHistory || context.ephemeral || context.serviceManaged) {
      return;
    }
    const notes = this.#notesOf(context);
    const { maxMessages, keepFirst } = this.#policy;
    const { needed, answered } = openEndsOf(context.input);
    const isOwn = ownMessages(context);
    const window = await loadWindow(notes.log, {
      maxMessages,
      keepFirst,
      needed,
      isOwn,
      signal: context.run.options.signal,
    });
    notes.version = window.version;
    const ids = resultIds(window.groups, answered);
    const own = `${context.runId}:o`;
    const staysOpen = ({ call, resultId }: CallSlot): boolean =>
      // Of calls that an earlier attempt at this very run left, only the runtime knows whether they wait for the caller.
      (resultId.startsWith(own) && /^\d+\//.test(resultId.slice(own.length))) ||
      ids.get(call.callId)?.includes(resultId) === true;
    const messages = repair(window, staysOpen, notes.repairs, context);
    context.addHistory(await this.#reduce(messages, staysOpen, context), ids);
  }

  async claim(context: RunContext, answers: readonly Message[]): Promise<boolean> {
    const { storeInputs = true, storeFilter = () => true } = this.#policy;
    const stored = storeInputs ? answers.filter(storeFilter) : [];
    return stored.length === 0 || (await this.#append(this.#notesOf(context), stored)) === stored.length;
  }

  async persist(context: RunContext): Promise<void> {
    await this.#store(context, context.produced);
  }

  async afterRun(context: RunContext): Promise<void> {
    try {
      if (context.error === undefined) {
        await this.#store(context, context.produced);
      } else if (this.#policy.keepPartial && context.partial.length > 0) {
        await this.#store(context, context.partial);
      }
    } finally {
      // Left to the garbage collector, the notes would outlive their run by far.
      this.#notes.delete(context.run);
    }
  }

  async #reduce(
    messages: readonly Message[],
    staysOpen: (slot: CallSlot) => boolean,
    context: RunContext,
  ): Promise<readonly Message[]> {
    const { reducer } = this.#policy;
    if (reducer === undefined || messages.length === 0) {
      return messages;
    }
    const reduced = await reducer(messages, { session: context.session, signal: context.signal });
    if (!Array.isArray(reduced)) {
      throw configurationError("reducer", "must return an array of messages");
    }
    return groupMessages(reduced)
      .groups.filter((group) => !isDangling(group) && (isPendingApproval(group) || openCalls(group).every(staysOpen)))
      .flatMap(groupToMessages);
  }

  /** Stores what the policy selects and is not stored yet: repairs, context, input, then `produced`. */
  async #store(context: RunContext, produced: readonly Message[]): Promise<void> {
    if (context.ephemeral) {
      return;
    }
    const notes = this.#notesOf(context);
    const { storeInputs = true, storeOutputs = true, storeContext = false, storeFilter } = this.#policy;
    const chosen = [
      ...(storeContext ? context.contextMessages(storeContext === true ? undefined : storeContext) : []),
      ...(storeInputs ? context.input : []),
      ...(storeOutputs ? produced : []),
    ].filter((message) => storeFilter?.(message) ?? true);
    const write = async (): Promise<void> => {
      const fresh = [...new Map([...notes.repairs, ...chosen].map((message) => [message.messageId, message])).values()];
      const messages = fresh.filter((message) => !notes.stored.has(message.messageId));
      if (messages.length === 0) {
        return;
      }
      const isRepeated = notes.isUncertain;
      const appended = await this.#append(notes, messages);
      if (this.loadsHistory && !isRepeated && appended < messages.length) {
        // Seldom needed, so it is loaded by whoever needs it.
        const { isOurs } = await import("./history-ownership.ts");
        if (!(await isOurs(notes.log, messages, appended, produced))) {
          throw new AgentFrameworkError("conflict", "another run stored it");
        }
        context.report({ type: "already_stored", message: "messages already stored" });
      }
    };
    // A write that failed says nothing about the next one.
    notes.writing = notes.writing === undefined ? write() : notes.writing.then(write, write);
    await notes.writing;
  }

  async #append(notes: RunNotes, messages: readonly Message[]): Promise<number> {
    const ifVersion = this.#policy.conditionalAppend ? notes.version : undefined;
    notes.isUncertain = true;
    const { version, appended } = await notes.log.append(messages, { ifVersion });
    notes.isUncertain = false;
    notes.version = version;
    for (const message of messages) {
      notes.stored.add(message.messageId);
    }
    return appended;
  }

  #notesOf(context: RunContext): RunNotes {
    const existing = this.#notes.get(context.run);
    if (existing !== undefined) {
      return existing;
    }
    const notes: RunNotes = {
      log: this.open(context.session),
      repairs: [],
      stored: new Set(),
      version: undefined,
      isUncertain: false,
      writing: undefined,
    };
    this.#notes.set(context.run, notes);
    return notes;
  }
}

/** What an earlier attempt at this run was asked and made. What a caller merely sends again begins with an answer. */
function ownMessages({ runId, input }: RunContext): (message: Message) => boolean {
  const given = new Set(input.map(({ messageId }) => messageId));
  return ({ messageId, role }) =>
    messageId.startsWith(`${runId}:`) || (role !== "assistant" && role !== "tool" && given.has(messageId));
}

/**
 * A reducer for {@link HistoryPolicy.reducer}: keeps the newest `count` messages, on whole groups. A system message at
 * the beginning stays and is not counted; a newest group that is longer than `count` is kept whole.
 *
 * @throws `configuration` for a count below 1.
 */
export function messageCountReducer(count: number): HistoryReducer {
  assertCount(count, "count", 1);
  return (messages) => keepNewest(messages, count);
}
