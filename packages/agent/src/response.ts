import {
  type AgentFrameworkError,
  type Content,
  configurationError,
  type FinishReason,
  type FunctionApprovalRequestContent,
  type FunctionCallContent,
  groupMessages,
  type Message,
  messageText,
  openCalls,
  type Role,
  type UsageDetails,
} from "@agentfw/core";
import { MessageFolder } from "./message-folder.ts";
import { abandoned, type Emit, UpdateChannel } from "./update-channel.ts";

/** What an {@link AgentUpdate} is made of. */
export interface AgentUpdateInit {
  readonly messageId: string;
  readonly role: Role;
  readonly contents: readonly Content[];
  readonly authorName?: string | undefined;
  readonly createdAt?: string | undefined;
  readonly responseId?: string | undefined;
  readonly finishReason?: FinishReason | undefined;
  readonly model?: string | undefined;
  readonly additionalProperties?: Readonly<Record<string, unknown>> | undefined;
  readonly historyError?: AgentFrameworkError | undefined;
}

/** A piece of a run: of the model's answer, or a tool's result. Pieces with one `messageId` make one message. */
export class AgentUpdate {
  readonly messageId: string;
  readonly role: Role;
  readonly contents: readonly Content[];
  readonly authorName: string | undefined;
  readonly createdAt: string | undefined;
  readonly responseId: string | undefined;
  readonly finishReason: FinishReason | undefined;
  readonly model: string | undefined;
  readonly additionalProperties: Readonly<Record<string, unknown>> | undefined;
  /** In a run whose history could not be loaded, in every piece; see {@link AgentResponse.historyError}. */
  readonly historyError: AgentFrameworkError | undefined;

  constructor(init: AgentUpdateInit) {
    this.messageId = init.messageId;
    this.role = init.role;
    this.contents = init.contents;
    this.authorName = init.authorName;
    this.createdAt = init.createdAt;
    this.responseId = init.responseId;
    this.finishReason = init.finishReason;
    this.model = init.model;
    this.additionalProperties = init.additionalProperties;
    this.historyError = init.historyError;
  }

  /** The assistant's text in this piece; empty for tool results. */
  get text(): string {
    return this.role === "assistant" ? messageText(this) : "";
  }
}

/** What an {@link AgentResponse} is made of. */
export interface AgentResponseInit {
  readonly runId: string;
  readonly messages: readonly Message[];
  readonly usage?: UsageDetails | undefined;
  readonly finishReason?: FinishReason | undefined;
  readonly responseId?: string | undefined;
  readonly model?: string | undefined;
  readonly historyError?: AgentFrameworkError | undefined;
}

/** What a run came to. */
export class AgentResponse {
  readonly runId: string;
  /** What the run produced, in order: the model's messages and the tools' results. */
  readonly messages: readonly Message[];
  /** Summed over all model calls of the run; `undefined` when the service counts nothing. */
  readonly usage: UsageDetails | undefined;
  readonly finishReason: FinishReason | undefined;
  /** The service's id of its last answer. */
  readonly responseId: string | undefined;
  readonly model: string | undefined;
  /**
   * Why the history could not be loaded, in a run that went on without it (`onLoadFailure: "continue"`): the model saw
   * nothing of the conversation, and the history provider stored nothing of this run. `undefined` in every other run.
   */
  readonly historyError: AgentFrameworkError | undefined;

  constructor(init: AgentResponseInit) {
    this.runId = init.runId;
    this.messages = init.messages;
    this.usage = init.usage;
    this.finishReason = init.finishReason;
    this.responseId = init.responseId;
    this.model = init.model;
    this.historyError = init.historyError;
  }

  /** The text of the last assistant message that has any. */
  get text(): string {
    const message = this.messages.findLast(
      (candidate) => candidate.role === "assistant" && messageText(candidate) !== "",
    );
    return message === undefined ? "" : messageText(message);
  }

  /** Calls that wait for a person's approval. Answer with `function_approval_response` contents in the next run. */
  get approvalRequests(): FunctionApprovalRequestContent[] {
    return this.messages
      .flatMap((message) => message.contents)
      .filter((content) => content.type === "function_approval_request");
  }

  /** Calls of tools without `execute`. Answer with `function_result` contents in the next run. */
  get openCalls(): FunctionCallContent[] {
    // By the groups, because services use one call id again and again.
    const open = groupMessages(this.messages).groups.flatMap(openCalls);
    return this.approvalRequests.length > 0 ? [] : open.map(({ call }) => call);
  }
}

/** Puts the pieces of a run together. */
export class ResponseFolder {
  readonly #messages = new MessageFolder();
  #finishReason: FinishReason | undefined;
  #responseId: string | undefined;
  #model: string | undefined;
  #historyError: AgentFrameworkError | undefined;

  add(update: AgentUpdate): void {
    this.#messages.add(update);
    this.#finishReason = update.finishReason ?? this.#finishReason;
    this.#responseId = update.responseId ?? this.#responseId;
    this.#model = update.model ?? this.#model;
    this.#historyError = update.historyError ?? this.#historyError;
  }

  toResponse(runId: string): AgentResponse {
    return new AgentResponse({
      runId,
      messages: this.#messages.messages(),
      usage: this.#messages.usage,
      finishReason: this.#finishReason,
      responseId: this.#responseId,
      model: this.#model,
      historyError: this.#historyError,
    });
  }
}

/** Runs to the end, handing on each piece; `isRead` says whether somebody reads them as they come. */
export type ExecuteRun = (emit: Emit<AgentUpdate>, isRead: boolean) => Promise<void>;

/**
 * A run as it happens. Nothing starts before the first piece is asked for; it can be read once.
 *
 * Ending the loop early gives the run up: nothing of it is stored unless the history provider keeps partial answers.
 */
export class AgentResponseStream implements AsyncIterable<AgentUpdate> {
  readonly runId: string;
  readonly #execute: ExecuteRun;
  readonly #folder = new ResponseFolder();
  #updates: UpdateChannel<AgentUpdate> | undefined;
  #outcome: Promise<void> | undefined;

  constructor(runId: string, execute: ExecuteRun) {
    this.runId = runId;
    this.#execute = execute;
  }

  /**
   * The pieces that have not been read yet.
   *
   * @throws `configuration` once `finalResponse` runs on without a reader: the pieces are gone, and a second run is not
   * what anybody wants.
   */
  [Symbol.asyncIterator](): AsyncGenerator<AgentUpdate, void> {
    if (this.#updates === undefined && this.#outcome !== undefined) {
      throw configurationError("stream", "finalResponse has read it; read the pieces first, then ask for the response");
    }
    this.#updates ??= new UpdateChannel((emit) => this.#run(emit, true));
    return this.#updates;
  }

  /**
   * The whole response: reads the rest of the stream if need be.
   *
   * @throws what ended the run; the AbortError when the stream was given up.
   */
  async finalResponse(): Promise<AgentResponse> {
    if (this.#updates === undefined) {
      // Nobody wants the pieces, so there is nobody to wait for.
      await (this.#outcome ?? this.#run(() => undefined, false));
    } else {
      for await (const _ of this.#updates) {
        // Reading is what makes the run go on.
      }
      await (this.#outcome ?? Promise.reject(abandoned()));
    }
    return this.#folder.toResponse(this.runId);
  }

  #run(emit: Emit<AgentUpdate>, isRead: boolean): Promise<void> {
    const outcome = this.#execute((update) => {
      this.#folder.add(update);
      return emit(update);
    }, isRead);
    this.#outcome = outcome;
    return outcome;
  }
}
