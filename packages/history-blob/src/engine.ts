import type { HistoryList, HistoryPage } from "@agentfw/core";
import { type CallLimits, KeyedQueue, RecentlyUsed } from "@agentfw/core/backend";
import { type AppendInput, type AppendResult, appendTurn } from "./appending.ts";
import { clearListed } from "./clear-listed.ts";
import { clearConversation } from "./clearing.ts";
import { Contention } from "./contention.ts";
import type { ErasedConversations } from "./erasing.ts";
import { PROVIDER } from "./errors.ts";
import type { ListCursor } from "./list-cursor.ts";
import { type ListedConversation, type ListRange, type ListTask, listConversations, nextPage } from "./listing.ts";
import { openContainer } from "./open-container.ts";
import type { BlobConnectionOptions } from "./options.ts";
import type { ConversationPlace } from "./places.ts";
import { type ReadInput, readPage } from "./reading.ts";
import { Service } from "./service.ts";
import { runSteps, type SteppedCall } from "./stepped-call.ts";
import { type Conversation, Task } from "./task.ts";
import { failureOf } from "./verdicts.ts";

/** Conversations whose ends are kept, and ids among them: some 20 MB. */
const MOST_CONVERSATIONS = 2_000;
const MOST_IDS = 200_000;

/**
 * Everything of a store that talks to the service and understands its answers, and what it remembers of them. Its input has
 * been checked and is nobody else's.
 */
export class Engine {
  readonly #service: Service;
  /** What is known of those that were used last. What is given up is asked for again. */
  readonly #conversations = new RecentlyUsed<Conversation>(
    MOST_CONVERSATIONS,
    MOST_IDS,
    ({ tail }) => tail?.idCount ?? 0,
  );
  readonly #queue = new KeyedQueue();

  constructor(connection: BlobConnectionOptions, createContainer: boolean) {
    this.#service = new Service(async () => connection.container ?? openContainer(connection), createContainer);
  }

  append(place: ConversationPlace, input: AppendInput, limits: CallLimits): Promise<AppendResult> {
    return this.#write("append", place, limits, (task) => appendTurn(task, input));
  }

  read(place: ConversationPlace, input: ReadInput, limits: CallLimits): Promise<HistoryPage> {
    return this.#run("read", limits, (call) => readPage(this.#taskOf(call, place), input));
  }

  clear(place: ConversationPlace, limits: CallLimits): Promise<void> {
    return this.#write("clear", place, limits, clearConversation);
  }

  list(task: ListTask, limits: CallLimits): Promise<HistoryList> {
    return this.#run("list", limits, (call) => listConversations(call, this.#service, task));
  }

  /** Clears everything that a listing gives, also what `list` leaves out. The limits are those of each request. */
  async erase(range: Omit<ListRange, "cursor">, limits: CallLimits): Promise<ErasedConversations> {
    const conversations = await clearListed<ListedConversation, ListCursor>(
      (cursor) => this.#run("erase", limits, (call) => nextPage(call, this.#service, { ...range, cursor })),
      ({ directory }) => this.#write("erase", { directory, names: undefined }, limits, clearConversation),
    );
    return { conversations };
  }

  /** Waits for the writes that were queued until now, and forgets what is remembered. */
  async close(): Promise<void> {
    await this.#queue.settled();
    this.#conversations.clear();
  }

  /** Writes to one conversation run one after another: they would only be in each other's way. */
  #write<T>(name: string, place: ConversationPlace, limits: CallLimits, body: (task: Task) => Promise<T>): Promise<T> {
    return this.#run(name, limits, (call) =>
      this.#queue.run(place.directory, async () => {
        call.signal.throwIfAborted();
        return body(this.#taskOf(call, place));
      }),
    );
  }

  #run<T>(name: string, limits: CallLimits, body: (call: SteppedCall) => Promise<T>): Promise<T> {
    return runSteps(name, { ...limits, provider: PROVIDER, failureOf }, body);
  }

  #taskOf(call: SteppedCall, { directory, names }: ConversationPlace): Task {
    const make = () => ({ directory, names, contention: new Contention(), tail: undefined });
    const conversation = this.#conversations.use(directory, make);
    conversation.names ??= names;
    return new Task(call, conversation, this.#service);
  }
}
