import {
  type Content,
  callSlots,
  configurationError,
  functionResults,
  groupMessages,
  type Message,
  messagesFromInput,
  openCalls,
} from "@agentfw/core";
import { bindAnswers } from "./approval-answers.ts";
import { approvalRequest, approvalRequests, findApprovals, interruptionOf, isAnswersOnly } from "./approvals.ts";
import { type EarlierAttempt, earlierAttempt, nextOutputNumber } from "./earlier-attempt.ts";
import { MessageFolder } from "./message-folder.ts";
import type { MessageCounter } from "./message-namer.ts";
import { callModel, requestOptions } from "./model-call.ts";
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
export async function functionLoop(scope: RunScope, emit: EmitUpdate): Promise<void> {
  const loop = new FunctionLoop(scope, emit);
  scope.refreshTools();
  if (scope.isNamed) {
    await loop.takeUp(earlierAttempt(scope.run));
  }
  if (!loop.done) {
    await loop.resume();
  }
  for (let calls = 1; !loop.done; calls += 1) {
    scope.interruption.throwIfAborted();
    if (calls > 1) {
      scope.refreshTools();
    }
    loop.toolsOff ||= calls > scope.settings.maxModelCalls;
    await loop.answerCalls(await loop.model());
  }
}

function isIn(requestIds: ReadonlySet<string>, content: Content): boolean {
  return content.type === "function_approval_response" && requestIds.has(content.id);
}

/** What cannot be stored is refused before the tools of the same answer run. @throws `configuration` naming the path. */
function assertStorable(answer: readonly Message[]): void {
  messagesFromInput(answer, () => crypto.randomUUID(), "answer");
}

class FunctionLoop {
  toolsOff = false;
  done = false;
  readonly #scope: RunScope;
  readonly #counter: MessageCounter = { next: 0 };
  readonly #emit: EmitUpdate;
  readonly #produced: Message[];
  readonly #reported = new Set<string>();
  #errorsInARow = 0;
  #modelCalls = 0;
  /** How many produced messages a service that keeps the conversation knows already. */
  #known = 0;

  constructor(scope: RunScope, emit: EmitUpdate) {
    this.#scope = scope;
    this.#emit = emit;
    this.#produced = [...scope.run.produced];
    scope.run.produced = this.#produced;
  }

  /** Goes on where an earlier attempt at the run ended. Its calls are not run again. */
  async takeUp(earlier: EarlierAttempt | undefined): Promise<void> {
    this.#counter.next = nextOutputNumber(this.#scope.run);
    if (earlier === undefined) {
      return;
    }
    for (const message of earlier.messages) {
      await this.#emit(new AgentUpdate(message));
    }
    let waitsForCaller = false;
    for (const { message, slots } of earlier.open) {
      const calls = planCalls(message, slots, this.#scope);
      const begun = calls.filter((call) => !isDeclaration(call));
      waitsForCaller ||= begun.length < calls.length;
      await this.#runBatch(begun.map((call) => ({ ...call, settled: interruptionOf(call) })));
    }
    const isStoredWhole = this.#scope.persistence === "per-run" && !earlier.isBrokenOff;
    this.done = earlier.isAtEnd || waitsForCaller || isStoredWhole;
  }

  /** Runs what is approved by now. A run that brings answers only, and completes no batch with them, is over. */
  async resume(): Promise<void> {
    const answers = bindAnswers(this.#scope.run);
    const { batches, waiting, settledNow } = findApprovals(this.#scope);
    await this.#scope.claim(answers.filter(({ contents }) => contents.some((content) => isIn(settledNow, content))));
    for (const { calls, left } of batches) {
      await this.#scope.persist();
      const outcome = await this.#runBatch(calls);
      this.done ||= outcome.terminated || left !== undefined;
      if (left !== undefined) {
        await this.#emit(new AgentUpdate(left));
      }
    }
    if (batches.length === 0 && isAnswersOnly(this.#scope.run.options.input) && !this.#isHalfDone()) {
      await this.#endWaiting(waiting);
    }
  }

  async #endWaiting(waiting: readonly Message[]): Promise<void> {
    if (this.#scope.run.options.ephemeral) {
      throw configurationError("input", "an approval can only be answered in the session in which it was asked for");
    }
    for (const message of waiting) {
      await this.#emit(new AgentUpdate(message));
    }
    this.done = true;
  }

  /** True when an earlier run stored what came of the answers, and failed before the model was told. */
  #isHalfDone(): boolean {
    const history = this.#scope.run.contributions.filter(({ isHistory }) => isHistory);
    const group = groupMessages(history.flatMap(({ messages }) => messages)).groups.at(-1);
    return group !== undefined && openCalls(group).length === 0 && group.items.some(({ slots }) => slots.length > 0);
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
    const view = this.#view(options.conversationId);
    if (view.length === 0 && options.conversationId === undefined) {
      throw configurationError("input", "must hold a message when there is nothing else for the model");
    }
    await callModel(this.#scope, view, once, this.#counter, (update) => {
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
    const asking = answer
      .map((message) => ({ message, slots: callSlots(message).filter(({ call }) => !hosted.has(call.callId)) }))
      .filter(({ slots }) => slots.length > 0)
      .map(({ message, slots }) => ({ message, calls: planCalls(message, slots, this.#scope) }));
    const calls = asking.flatMap((entry) => entry.calls);
    if (calls.length === 0) {
      this.done = true;
      return;
    }
    assertStorable(answer);
    if (this.toolsOff) {
      await this.#refuseCalls(calls);
      this.done = true;
      return;
    }
    if (await this.#askApproval(asking)) {
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
    asking: readonly { readonly message: Message; readonly calls: readonly PlannedCall[] }[],
  ): Promise<boolean> {
    const asked = await Promise.all(
      asking.map(async (entry) => ({ ...entry, requests: await approvalRequests(entry.calls, this.#scope) })),
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
