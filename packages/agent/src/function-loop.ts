import {
  type ChatRequestOptions,
  callSlots,
  configurationError,
  functionResults,
  groupMessages,
  type Message,
  messagesFromInput,
} from "@agentfw/core";
import { bindAnswers } from "./approval-answers.ts";
import { approvalRequest, approvalRequests, findApprovals, interruptionOf, isAnswersOnly } from "./approvals.ts";
import { type EarlierAttempt, earlierAttempt, isLastResult, nextOutputNumber } from "./earlier-attempt.ts";
import { MessageFolder } from "./message-folder.ts";
import type { MessageCounter } from "./message-namer.ts";
import { callModel, requestOptions } from "./model-call.ts";
import { AgentUpdate } from "./response.ts";
import { ResultKeeper } from "./result-keeper.ts";
import { replacedInput } from "./run-input.ts";
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
  const answers = loop.bindAnswers();
  if (scope.isNamed) {
    for (const messageId of replacedInput(scope.run)) {
      const message = "a run of this name had another input before, and that one counts";
      scope.report({ type: "run_input_ignored", message, messageId });
    }
    await loop.takeUp(earlierAttempt(scope.run));
  }
  if (!loop.done) {
    await loop.resume(answers);
  }
  for (let calls = 1; !loop.done; calls += 1) {
    scope.interruption.throwIfAborted();
    if (calls > 1) {
      scope.refreshTools();
    }
    loop.toolsOff ||= calls > scope.settings.maxModelCalls;
    await loop.answerCalls(await loop.model());
  }
  scope.modelInput.save();
}

function holdsCall({ contents }: Message): boolean {
  return contents.some(({ type }) => type === "function_call");
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
  #errorsInARow = 0;
  #modelCalls = 0;
  /** True when an earlier attempt at this run has said or asked something already. */
  #isTakenUp = false;
  readonly #results: ResultKeeper;

  constructor(scope: RunScope, emit: EmitUpdate) {
    this.#scope = scope;
    this.#emit = emit;
    this.#produced = [...scope.run.produced];
    scope.run.produced = this.#produced;
    this.#results = new ResultKeeper(scope, this.#produced);
  }

  /** Goes on where an earlier attempt at the run ended. Its calls are not run again. */
  async takeUp(earlier: EarlierAttempt | undefined): Promise<void> {
    this.#counter.next = nextOutputNumber(this.#scope.run);
    if (earlier === undefined) {
      return;
    }
    this.#isTakenUp = true;
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

  /** Takes the answers to approval requests out of what else the input says. */
  bindAnswers(): readonly Message[] {
    const { answers, repeated } = bindAnswers(this.#scope.run);
    for (const messageId of repeated) {
      this.#scope.report({
        type: "approval_ignored",
        message: "an approval repeats an answer that counts already, and is left out",
        messageId,
      });
    }
    return answers;
  }

  /** Runs what is approved by now. A run that brings answers only, and completes no batch with them, is over. */
  async resume(answers: readonly Message[]): Promise<void> {
    const { batches, waiting } = findApprovals(this.#scope);
    await this.#scope.claim(answers);
    for (const { calls, left } of batches) {
      await this.#scope.persist();
      const outcome = await this.#runBatch(calls);
      this.done ||= outcome.terminated || left !== undefined;
      if (left !== undefined) {
        await this.#emit(new AgentUpdate(left));
      }
    }
    const { run } = this.#scope;
    // What a transcript that is sent again says beside new answers is history.
    const isOnlyAnswers = isAnswersOnly(run.options.input) || (answers.length > 0 && isAnswersOnly(run.input));
    if (batches.length === 0 && isOnlyAnswers && !this.#isTakenUp && !this.#isHalfDone()) {
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

  /** True when an earlier run stored what came of the answers, and failed before the model was told what it was to see. */
  #isHalfDone(): boolean {
    const history = this.#scope.run.contributions.filter(({ isHistory }) => isHistory);
    const group = groupMessages(history.flatMap(({ messages }) => messages)).groups.at(-1);
    const slots = group?.items.flatMap((item) => item.slots) ?? [];
    return slots.length > 0 && slots.every(({ result }) => result !== undefined && !isLastResult(result));
  }

  /** One model call; gives the messages that it came to. */
  async model(): Promise<Message[]> {
    const folder = new MessageFolder();
    this.#scope.draft = folder;
    const options = requestOptions(this.#scope, this.toolsOff);
    const { toolChoice } = options;
    // A choice that forces a call holds for the first model call only, or the loop would never end.
    const isForced = toolChoice === "required" || typeof toolChoice === "object";
    const once = isForced && this.#modelCalls > 0 ? { ...options, toolChoice: undefined } : options;
    this.#modelCalls += 1;
    const view = this.#scope.modelInput.view(options.conversationId);
    if (view.length === 0 && options.conversationId === undefined) {
      throw configurationError("input", "must hold a message when there is nothing else for the model");
    }
    await this.#ask(view, once, folder);
    this.#scope.draft = undefined;
    const messages = folder.messages();
    this.#produced.push(...messages);
    return messages;
  }

  async #ask(messages: readonly Message[], options: ChatRequestOptions, folder: MessageFolder): Promise<void> {
    const { modelInput } = this.#scope;
    let isSent = false;
    let isAnswered = false;
    const onSent = () => {
      isSent = true;
    };
    try {
      await callModel(this.#scope, { messages, options, counter: this.#counter, onSent }, (update) => {
        folder.add(update);
        // What a service keeps is there when it has said its end, also if nobody reads on.
        isAnswered ||= update.finishReason !== undefined;
        return this.#emit(update);
      });
      isAnswered = true;
    } finally {
      if (isAnswered && isSent) {
        modelInput.onTaken(folder.messages());
      } else if (isAnswered) {
        modelInput.onAnsweredHere(folder.messages());
      }
    }
  }

  async answerCalls(answer: readonly Message[]): Promise<void> {
    if (!answer.some(holdsCall)) {
      this.done = true;
      return;
    }
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

  /** Runs calls side by side, puts their results in the order of the calls, and shows them. */
  async #runBatch(calls: readonly PlannedCall[]): Promise<BatchOutcome> {
    const outcome = await runCalls(calls, this.#scope, (message) => this.#results.keep(message)).catch(
      async (error: unknown) => {
        await this.#results.giveUp();
        throw error;
      },
    );
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
    const updates = asked.map(({ message, calls, requests }) => {
      // A message of the same answer waits too; asking for its calls is what keeps them from being taken for lost.
      const contents = requests.length > 0 ? requests : calls.map(approvalRequest);
      this.#produced[this.#produced.indexOf(message)] = { ...message, contents: [...message.contents, ...contents] };
      return new AgentUpdate({ messageId: message.messageId, role: message.role, contents });
    });
    // Shown when all of them are there: a reader who leaves in between must not leave half of the question behind.
    for (const update of updates) {
      await this.#emit(update);
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
