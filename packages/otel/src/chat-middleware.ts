import type { ChatInvocation, ChatMiddleware, ChatRequestOptions, ChatUpdate, FinishReason } from "@agentfw/core";
import type { Attributes } from "@opentelemetry/api";
import { ATTRIBUTE } from "./attributes.ts";
import { instructionsText, messagesText, PieceFolder, toolsText } from "./content.ts";
import { type Operation, type Outcome, quietly } from "./operation.ts";
import type { Recorder } from "./recorder.ts";
import { UsageSum } from "./usage.ts";
import { WatchedStream, type Watcher } from "./watched-stream.ts";

/** Watches model calls: a span `chat` for each, with what was asked for and what it cost. */
export function chatMiddleware(recorder: Recorder): ChatMiddleware {
  return {
    kind: "chat",
    handle: (invocation, next) => new WatchedStream(() => beginChat(recorder, invocation), next),
  };
}

function beginChat(recorder: Recorder, invocation: ChatInvocation): ChatWatcher | undefined {
  const { providerName, model: usualModel } = recorder.settings;
  const model = invocation.options.model ?? usualModel;
  const common = {
    [ATTRIBUTE.operationName]: "chat",
    [ATTRIBUTE.providerName]: providerName,
    [ATTRIBUTE.requestModel]: model,
  };
  const answer = new Answer();
  const operation = recorder.begin({
    name: model === undefined ? "chat" : `chat ${model}`,
    kind: "client",
    attributes: common,
    signal: invocation.options.signal,
    measure: (outcome) => measure(outcome, answer, common),
  });
  return operation && new ChatWatcher(recorder, operation, invocation, answer);
}

function measure({ seconds, errorType, instruments }: Outcome, answer: Answer, common: Attributes): void {
  const attributes = { ...common, [ATTRIBUTE.responseModel]: answer.model };
  instruments.chatDuration.record(seconds, { ...attributes, [ATTRIBUTE.errorType]: errorType });
  const counts = { input: answer.usage.get("inputTokenCount"), output: answer.usage.get("outputTokenCount") };
  for (const [type, count] of Object.entries(counts)) {
    if (count !== undefined) {
      instruments.tokenUsage.record(count, { ...attributes, [ATTRIBUTE.tokenType]: type });
    }
  }
}

/** What an answer says of itself. */
class Answer {
  readonly usage = new UsageSum();
  model: string | undefined;
  id: string | undefined;
  finishReason: FinishReason | undefined;

  add(update: ChatUpdate): void {
    this.usage.add(update.contents);
    this.model = update.model ?? this.model;
    this.id = update.responseId ?? this.id;
    this.finishReason = update.finishReason ?? this.finishReason;
  }
}

class ChatWatcher implements Watcher<ChatUpdate> {
  readonly operation: Operation;
  readonly #answer: Answer;
  readonly #folder: PieceFolder | undefined;
  #pieces = 0;
  #firstAfterSeconds: number | undefined;

  constructor(recorder: Recorder, operation: Operation, invocation: ChatInvocation, answer: Answer) {
    this.operation = operation;
    this.#answer = answer;
    if (operation.isRecording) {
      const { captureContent, captureIds } = recorder.settings;
      this.#folder = captureContent ? new PieceFolder() : undefined;
      operation.set({
        ...requestAttributes(invocation.options),
        ...(captureIds ? { [ATTRIBUTE.conversationId]: invocation.session?.sessionId } : {}),
      });
      quietly(() => operation.set(captureContent ? contentAttributes(invocation) : {}));
    }
  }

  saw(update: ChatUpdate): void {
    this.#pieces += 1;
    this.#firstAfterSeconds ??= this.operation.seconds;
    this.#answer.add(update);
    this.#folder?.add(update);
  }

  finish(): void {
    if (!this.operation.isRecording) {
      return;
    }
    const { usage, model, id, finishReason } = this.#answer;
    this.operation.set({
      ...usage.attributes(),
      [ATTRIBUTE.responseModel]: model,
      [ATTRIBUTE.responseId]: id,
      [ATTRIBUTE.finishReasons]: finishReason === undefined ? undefined : [finishReason],
      [ATTRIBUTE.outputMessages]: this.#folder?.text(),
    });
    // One piece may be a stream or a whole answer; only several are certainly a stream.
    if (this.#pieces > 1) {
      this.operation.set({
        [ATTRIBUTE.requestStream]: true,
        [ATTRIBUTE.timeToFirstChunk]: this.#firstAfterSeconds,
      });
    }
  }
}

function requestAttributes(options: ChatRequestOptions): Attributes {
  const { responseFormat } = options;
  return {
    [ATTRIBUTE.requestTemperature]: options.temperature,
    [ATTRIBUTE.requestTopP]: options.topP,
    [ATTRIBUTE.requestMaxTokens]: options.maxOutputTokens,
    [ATTRIBUTE.requestFrequencyPenalty]: options.frequencyPenalty,
    [ATTRIBUTE.requestPresencePenalty]: options.presencePenalty,
    [ATTRIBUTE.requestSeed]: options.seed,
    [ATTRIBUTE.requestStopSequences]: options.stopSequences && [...options.stopSequences],
    [ATTRIBUTE.outputType]: responseFormat && (responseFormat === "text" ? "text" : "json"),
  };
}

function contentAttributes({ messages, options }: ChatInvocation): Attributes {
  const { instructions, tools } = options;
  return {
    [ATTRIBUTE.systemInstructions]: instructions && instructionsText(instructions),
    [ATTRIBUTE.inputMessages]: messagesText(messages),
    [ATTRIBUTE.toolDefinitions]: tools && toolsText(tools),
  };
}
