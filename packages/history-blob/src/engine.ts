import type { HistoryList, HistoryPage } from "@agentfw/core";
import { KeyedQueue } from "@agentfw/core/backend";
import { type AppendInput, type AppendResult, appendTurn } from "./appending.ts";
import type { Call } from "./call.ts";
import { explainFailure } from "./call-failure.ts";
import { clearConversation } from "./clearing.ts";
import { Conversations } from "./conversations.ts";
import { type ListedPage, type ListRange, type ListTask, listConversations, nextPage } from "./listing.ts";
import type { ConversationPlace } from "./names.ts";
import type { Task } from "./observing.ts";
import { openContainer } from "./open-container.ts";
import type { ResolvedConnection } from "./options.ts";
import { type ReadInput, readPage } from "./reading.ts";
import { Service } from "./service.ts";

/**
 * Everything of a store that talks to the service and understands its answers, and what it remembers of them. Its input has
 * been checked and is nobody else's.
 */
export class Engine {
  readonly #service: Service;
  readonly #conversations = new Conversations();
  readonly #queue = new KeyedQueue();

  constructor(connection: ResolvedConnection, createContainer: boolean) {
    const open = async () => ("container" in connection ? connection.container : openContainer(connection.address));
    this.#service = new Service(open, createContainer);
  }

  append(call: Call, place: ConversationPlace, input: AppendInput): Promise<AppendResult> {
    return this.#write(call, place, (task) => appendTurn(task, input));
  }

  read(call: Call, place: ConversationPlace, input: ReadInput): Promise<HistoryPage> {
    return readPage(this.#taskOf(call, place), input);
  }

  clear(call: Call, place: ConversationPlace): Promise<void> {
    return this.#write(call, place, clearConversation);
  }

  list(call: Call, task: ListTask): Promise<HistoryList> {
    return listConversations(call, this.#service, task);
  }

  /** One page of the service's, with what `list` leaves out. */
  page(call: Call, range: ListRange): Promise<ListedPage> {
    return nextPage(call, this.#service, range);
  }

  /** What a call rejects with. `signal` is the caller's. */
  explain(error: unknown, call: Call, signal: AbortSignal | undefined): unknown {
    return explainFailure(error, call, signal);
  }

  /** Waits for the writes that were queued until now, and forgets what is remembered. */
  async close(): Promise<void> {
    await this.#queue.settled();
    this.#conversations.clear();
  }

  /** Writes to one conversation run one after another: they would only be in each other's way. */
  #write<T>(call: Call, place: ConversationPlace, body: (task: Task) => Promise<T>): Promise<T> {
    return this.#queue.run(place.directory, async () => {
      call.signal.throwIfAborted();
      return body(this.#taskOf(call, place));
    });
  }

  #taskOf(call: Call, { directory, names }: ConversationPlace): Task {
    return { call, service: this.#service, conversation: this.#conversations.find(directory, names) };
  }
}
