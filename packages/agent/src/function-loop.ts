import { type CallSlot, callSlots, functionResults, type Message } from "@agentfw/core";
import { approvalRequest, approvalRequests, resumeApproved } from "./approvals.ts";
import { MessageFolder } from "./message-folder.ts";
import { callModel, type MessageCounter, requestOptions } from "./model-call.ts";
import { modelView, newMessagesView } from "./model-view.ts";
import { AgentUpdate } from "./response.ts";
import type { RunScope } from "./run-scope.ts";
import { type BatchOutcome, isDeclaration, type PlannedCall, planCalls, runCalls } from "./tool-calls.ts";
import type { Emit } from "./update-channel.ts";

/** Hands a piece of the run on. */
type EmitUpdate = Emit<AgentUpdate>;

/**
 * Calls the model, runs the tools that it asks for, and calls it again with their results, until it asks for none.
 *
 * After `maxConsecutiveErrors` batches in which every call failed, and after `maxModelCalls`, tools are switched off
 * for one last call, so that the run ends in text.
 */
export async function functionLoop(scope: RunScope, counter: MessageCounter, emit: EmitUpdate): Promise<void> {
  const loop = new FunctionLoop(scope, counter, emit);
  scope.refreshTools();
  await loop.resume();
  for (let calls = 1; !loop.done; calls += 1) {
    scope.interruption.signal.throwIfAborted();
    if (calls > 1) {
      scope.refreshTools();
    }
    loop.toolsOff ||= calls > scope.settings.maxModelCalls;
    await loop.answerCalls(await loop.model());
  }
}

class FunctionLoop {
  toolsOff = false;
  done = false;
  readonly #scope: RunScope;
  readonly #counter: MessageCounter;
  readonly #emit: EmitUpdate;
  readonly #produced: Message[];
  readonly #reported = new Set<string>();
  #errorsInARow = 0;
  #modelCalls = 0;
  /** How many produced messages a service that keeps the conversation knows already. */
  #known = 0;

  constructor(scope: RunScope, counter: MessageCounter, emit: EmitUpdate) {
    this.#scope = scope;
    this.#counter = counter;
    this.#emit = emit;
    this.#produced = [...scope.run.produced];
    scope.run.produced = this.#produced;
  }

  async resume(): Promise<void> {
    await resumeApproved(this.#scope, async (calls) => {
      await this.#runBatch(calls);
    });
  }

  /** One model call; gives the messages that it came to. */
  async model(): Promise<Message[]> {
    const folder = new MessageFolder();
    this.#scope.draft = () => folder.messages();
    const options = requestOptions(this.#scope, this.toolsOff);
    const { toolChoice } = options;
    // A choice that forces a call holds for the first model call only, or the loop would never end.
    const isForced = toolChoice === "required" || typeof toolChoice === "object";
    const once = isForced && this.#modelCalls > 0 ? { ...options, toolChoice: undefined } : options;
    this.#modelCalls += 1;
    await callModel(this.#scope, this.#view(options.conversationId), once, this.#counter, (update) => {
      folder.add(update);
      return this.#emit(update);
    });
    this.#scope.draft = () => [];
    const messages = folder.messages();
    this.#produced.push(...messages);
    this.#known = this.#produced.length;
    return messages;
  }

  async answerCalls(answer: readonly Message[]): Promise<void> {
    const hosted = new Set(answer.flatMap(functionResults).map(({ callId }) => callId));
    const open = answer
      .map((message) => ({ message, slots: callSlots(message).filter(({ call }) => !hosted.has(call.callId)) }))
      .filter(({ slots }) => slots.length > 0);
    const calls = open.flatMap(({ message, slots }) => planCalls(message, slots, this.#scope));
    if (calls.length === 0) {
      this.done = true;
      return;
    }
    if (this.toolsOff) {
      await this.#refuseCalls(calls);
      this.done = true;
      return;
    }
    if (await this.#askApproval(open)) {
      this.done = true;
      return;
    }
    await this.#scope.persist();
    const ours = calls.filter((call) => !isDeclaration(call));
    const outcome = await this.#runBatch(ours);
    // Calls of tools that only the caller can run end the run; the caller answers them in the next one.
    this.done = outcome.terminated || ours.length < calls.length;
    this.#errorsInARow = outcome.allFailed ? this.#errorsInARow + 1 : 0;
    this.toolsOff = this.#errorsInARow >= this.#scope.settings.maxConsecutiveErrors;
  }

  /** What the model is to see now. */
  #view(conversationId: string | undefined): Message[] {
    const { run } = this.#scope;
    if (conversationId !== undefined) {
      return newMessagesView(
        this.#modelCalls > 1 ? this.#produced.slice(this.#known) : [...run.modelInput(), ...this.#produced],
      );
    }
    return modelView([...run.modelInput(), ...this.#produced], ({ type, messageId, callId }) => {
      if (!this.#reported.has(messageId + callId)) {
        this.#reported.add(messageId + callId);
        this.#scope.report({
          type,
          message: "the input was not valid for a model and was repaired",
          messageId,
          callId,
        });
      }
    });
  }

  /** Keeps a result as it is there, before its fellows are. */
  async #keep(message: Message): Promise<void> {
    this.#produced.push(message);
    await this.#scope.persist();
  }

  /** Runs calls side by side, puts their results in the order of the calls, and shows them. */
  async #runBatch(calls: readonly PlannedCall[]): Promise<BatchOutcome> {
    const outcome = await runCalls(calls, this.#scope, (message) => this.#keep(message));
    const count = outcome.messages.length;
    this.#produced.splice(this.#produced.length - count, count, ...outcome.messages);
    for (const message of outcome.messages) {
      await this.#emit(new AgentUpdate(message));
    }
    return outcome;
  }

  async #askApproval(
    open: readonly { readonly message: Message; readonly slots: readonly CallSlot[] }[],
  ): Promise<boolean> {
    const asked = await Promise.all(
      open.map(async ({ message, slots }) => {
        const calls = planCalls(message, slots, this.#scope);
        return { message, calls, requests: await approvalRequests(calls) };
      }),
    );
    if (asked.every(({ requests }) => requests.length === 0)) {
      return false;
    }
    for (const { message, calls, requests } of asked) {
      // A message of the same answer waits too; asking for its calls is what keeps them from being taken for lost.
      const contents = requests.length > 0 ? requests : calls.map(approvalRequest);
      const index = this.#produced.indexOf(message);
      this.#produced[index] = { ...message, contents: [...message.contents, ...contents] };
      await this.#emit(new AgentUpdate({ messageId: message.messageId, role: message.role, contents }));
    }
    return true;
  }

  /** The model asked for tools although they were off: its calls are closed, so that the history stays valid. */
  async #refuseCalls(calls: readonly PlannedCall[]): Promise<void> {
    for (const { slot } of calls) {
      const message: Message = {
        role: "tool",
        messageId: slot.resultId,
        contents: [
          {
            type: "function_result",
            callId: slot.call.callId,
            result: "Error: tools are switched off for the rest of this run.",
            exception: "tools_off",
          },
        ],
      };
      this.#produced.push(message);
      await this.#emit(new AgentUpdate(message));
    }
  }
}
