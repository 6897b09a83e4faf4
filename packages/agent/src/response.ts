import {
  type Content,
  type FinishReason,
  type FunctionApprovalRequestContent,
  type FunctionCallContent,
  type Message,
  messageText,
  type Role,
  type UsageDetails,
} from "@agentfw/core";
import { MessageFolder } from "./message-folder.ts";

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
  }

  /** The assistant's text in this piece; empty for tool results. */
  get text(): string {
    return this.role === "assistant" ? messageText(this) : "";
  }
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

  constructor(runId: string, updates: Iterable<AgentUpdate>) {
    const folder = new MessageFolder();
    let finishReason: FinishReason | undefined;
    let responseId: string | undefined;
    let model: string | undefined;
    for (const update of updates) {
      folder.add(update);
      finishReason = update.finishReason ?? finishReason;
      responseId = update.responseId ?? responseId;
      model = update.model ?? model;
    }
    this.runId = runId;
    this.messages = folder.messages();
    this.usage = folder.usage;
    this.finishReason = finishReason;
    this.responseId = responseId;
    this.model = model;
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
    const contents = this.messages.flatMap((message) => message.contents);
    const results = contents.filter((content) => content.type === "function_result");
    const answered = new Set(results.map(({ callId }) => callId));
    const calls = contents.filter((content) => content.type === "function_call");
    return this.approvalRequests.length > 0 ? [] : calls.filter(({ callId }) => !answered.has(callId));
  }
}

/**
 * A run as it happens. Nothing starts before the first piece is asked for; it can be read once.
 *
 * Ending the loop early gives the run up: nothing of it is stored unless the history provider keeps partial answers.
 */
export class AgentResponseStream implements AsyncIterable<AgentUpdate> {
  readonly runId: string;
  readonly #updates: AsyncGenerator<AgentUpdate, void>;
  readonly #seen: AgentUpdate[] = [];
  #state: "open" | "complete" | "failed" = "open";
  #failure: unknown;

  constructor(runId: string, updates: AsyncGenerator<AgentUpdate, void>) {
    this.runId = runId;
    this.#updates = updates;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AgentUpdate, void> {
    try {
      for await (const update of this.#updates) {
        this.#seen.push(update);
        yield update;
      }
      if (this.#state === "open") {
        this.#state = "complete";
      }
    } catch (error) {
      this.#fail(error);
      throw error;
    } finally {
      if (this.#state === "open") {
        this.#fail(new DOMException("The stream was given up before its end", "AbortError"));
      }
    }
  }

  /**
   * The whole response: reads the rest of the stream if need be.
   *
   * @throws what ended the run; the AbortError when the stream was given up.
   */
  async finalResponse(): Promise<AgentResponse> {
    for await (const _ of this) {
      // Reading is what makes the run go on; its pieces are collected on the way.
    }
    if (this.#state === "failed") {
      throw this.#failure;
    }
    return new AgentResponse(this.runId, this.#seen);
  }

  #fail(error: unknown): void {
    this.#state = "failed";
    this.#failure = error;
  }
}
