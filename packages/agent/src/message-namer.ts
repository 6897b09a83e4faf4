import { type ChatUpdate, type Content, resultMessageId } from "@agentfw/core";
import { AgentUpdate } from "./response.ts";

/** Numbers the messages that the model makes in a run. */
export interface MessageCounter {
  next: number;
}

/** Gives the service's messages our ids: services repeat theirs. One namer serves one answer. */
export class MessageNamer {
  readonly #runId: string;
  readonly #counter: MessageCounter;
  /** Where each call of the answer was made, and how many results it has. */
  readonly #calls = new Map<string, { readonly messageId: string; results: number }>();
  #serviceId: string | undefined;
  #role: string | undefined;
  #messageId = "";

  constructor(runId: string, counter: MessageCounter) {
    this.#runId = runId;
    this.#counter = counter;
  }

  /** A piece of an answer, without results in it, as a piece of a message that is ours. */
  name(update: ChatUpdate): AgentUpdate {
    const { messageId: serviceId, role = "assistant", contents = [] } = update;
    const isNew = this.#beginsMessage(serviceId, role);
    if (isNew) {
      this.#messageId = `${this.#runId}:o${this.#counter.next}`;
      this.#counter.next += 1;
    }
    const isFirstMention = serviceId !== undefined && (isNew || this.#serviceId === undefined);
    this.#serviceId = serviceId ?? (isNew ? undefined : this.#serviceId);
    this.#role = role;
    for (const content of contents) {
      if (content.type === "function_call" && !this.#calls.has(content.callId)) {
        this.#calls.set(content.callId, { messageId: this.#messageId, results: 0 });
      }
    }
    return new AgentUpdate({
      messageId: this.#messageId,
      role,
      contents,
      createdAt: update.createdAt ?? (isNew ? new Date().toISOString() : undefined),
      authorName: update.authorName,
      responseId: update.responseId,
      finishReason: update.finishReason,
      model: update.model,
      additionalProperties: isFirstMention
        ? { ...update.additionalProperties, serviceMessageId: serviceId }
        : update.additionalProperties,
    });
  }

  /** Results of calls that the service ran itself get messages of their own, as those of our tools do. */
  separated(update: ChatUpdate): AgentUpdate[] {
    const { contents = [], role, ...rest } = update;
    return contents.map((content) =>
      content.type === "function_result"
        ? this.#result(update, content)
        : this.name({ ...rest, role: role === "tool" ? undefined : role, contents: [content] }),
    );
  }

  #result(update: ChatUpdate, content: Content & { readonly type: "function_result" }): AgentUpdate {
    const call = this.#calls.get(content.callId);
    if (call === undefined) {
      return this.name({ ...update, role: "tool", contents: [content] });
    }
    this.#role = "tool";
    call.results += 1;
    return new AgentUpdate({
      messageId: resultMessageId(call.messageId, content.callId, call.results - 1),
      role: "tool",
      contents: [content],
      createdAt: update.createdAt ?? new Date().toISOString(),
      responseId: update.responseId,
      finishReason: update.finishReason,
      model: update.model,
    });
  }

  #beginsMessage(serviceId: string | undefined, role: string): boolean {
    return (
      this.#messageId === "" ||
      (serviceId !== undefined && this.#serviceId !== undefined && serviceId !== this.#serviceId) ||
      role !== this.#role
    );
  }
}
