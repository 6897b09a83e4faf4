import { type HistoryList, type HistoryPage, withDeadline } from "@agentfw/core";
import { type CallLimits, KeyedQueue } from "@agentfw/core/backend";
import { type AppendInput, type AppendResult, appendTurn } from "./appending.ts";
import { Call } from "./call.ts";
import { clearConversation } from "./clearing.ts";
import { Conversations } from "./conversations.ts";
import { type ErasedConversations, eraseListed } from "./erasing.ts";
import { PROVIDER } from "./errors.ts";
import { type ListRange, type ListTask, listConversations, nextPage } from "./listing.ts";
import { openContainer } from "./open-container.ts";
import type { BlobConnectionOptions } from "./options.ts";
import type { ConversationPlace } from "./places.ts";
import { type ReadInput, readPage } from "./reading.ts";
import { Service } from "./service.ts";
import { Task } from "./task.ts";

/**
 * Everything of a store that talks to the service and understands its answers, and what it remembers of them. Its input has
 * been checked and is nobody else's.
 */
export class Engine {
  readonly #service: Service;
  readonly #conversations = new Conversations();
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
  erase(range: Omit<ListRange, "cursor">, limits: CallLimits): Promise<ErasedConversations> {
    return eraseListed(
      (cursor) => this.#run("erase", limits, (call) => nextPage(call, this.#service, { ...range, cursor })),
      (directory) => this.#write("erase", { directory, names: undefined }, limits, clearConversation),
    );
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

  /**
   * Runs a call within its deadline.
   *
   * @throws errors of the framework, or the reason of an abort before anything was sent.
   */
  async #run<T>(name: string, { timeoutMs, signal }: CallLimits, body: (call: Call) => Promise<T>): Promise<T> {
    const call = new Call(name, timeoutMs);
    // What a late write means is decided by the call: the deadline cannot know what was sent.
    const deadline = { kind: "read", provider: PROVIDER, timeoutMs, signal } as const;
    try {
      return await withDeadline(name, deadline, () => body(call));
    } catch (error) {
      throw call.fail(error, signal);
    }
  }

  #taskOf(call: Call, { directory, names }: ConversationPlace): Task {
    return new Task(call, this.#conversations.find(directory, names), this.#service);
  }
}
