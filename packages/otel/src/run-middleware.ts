import { type AgentSession, type FinishReason, type MessagesInput, messagesFromInput } from "@agentfw/core";
import type { Attributes } from "@opentelemetry/api";
import { ATTRIBUTE } from "./attributes.ts";
import { messagesText, type Piece, PieceFolder } from "./content.ts";
import type { Instruments } from "./instruments.ts";
import { type Operation, quietly } from "./operation.ts";
import type { Recorder } from "./recorder.ts";
import type { RunState } from "./run-state.ts";
import { UsageSum } from "./usage.ts";
import { WatchedStream, type Watcher } from "./watched-stream.ts";

/** A run on its way through agent middleware: as much of it as is looked at here. */
export interface RunInvocation {
  readonly agent: { readonly name: string | undefined; readonly description: string | undefined };
  readonly runId: string;
  readonly session: AgentSession | undefined;
  readonly signal: AbortSignal;
  input: MessagesInput;
  onWait?: (() => () => void) | undefined;
}

/** A piece of a run: as much of it as is looked at here. */
export interface RunUpdate extends Piece {
  readonly finishReason?: FinishReason | undefined;
}

/** Agent middleware of `@agentfw/agent`, which this package does not need to be installed. */
export interface RunMiddleware {
  readonly kind: "agent";
  handle<Update extends RunUpdate>(invocation: RunInvocation, next: () => AsyncIterable<Update>): AsyncIterable<Update>;
}

/** Watches runs: a span `invoke_agent` that is open until the stream ends, fails or is given up. */
export function runMiddleware(recorder: Recorder): RunMiddleware {
  return {
    kind: "agent",
    handle<Update extends RunUpdate>(invocation: RunInvocation, next: () => AsyncIterable<Update>) {
      return new WatchedStream<Update>(() => beginRun(recorder, invocation), next);
    },
  };
}

function beginRun(recorder: Recorder, invocation: RunInvocation): RunWatcher | undefined {
  const { model, providerName } = recorder.settings;
  const { agent, signal } = invocation;
  const runState: RunState = { agentName: agent.name, openTools: new Set() };
  const operation = recorder.begin({
    name: agent.name === undefined ? "invoke_agent" : `invoke_agent ${agent.name}`,
    kind: "internal",
    attributes: {
      [ATTRIBUTE.operationName]: "invoke_agent",
      [ATTRIBUTE.providerName]: providerName,
      [ATTRIBUTE.requestModel]: model,
      [ATTRIBUTE.agentName]: agent.name,
    },
    signal,
    runState,
    measure: ({ seconds, errorType, instruments }) =>
      instruments.runDuration.record(seconds, {
        [ATTRIBUTE.agentName]: agent.name,
        [ATTRIBUTE.requestModel]: model,
        [ATTRIBUTE.errorType]: errorType,
      }),
  });
  return operation && new RunWatcher(recorder, operation, invocation, runState);
}

class RunWatcher implements Watcher<RunUpdate> {
  readonly operation: Operation;
  readonly signal: AbortSignal;
  readonly #instruments: Instruments | undefined;
  readonly #state: RunState;
  readonly #labels: Attributes;
  readonly #usage = new UsageSum();
  readonly #folder: PieceFolder | undefined;
  #finishReason: FinishReason | undefined;

  constructor(recorder: Recorder, operation: Operation, invocation: RunInvocation, state: RunState) {
    this.operation = operation;
    this.signal = invocation.signal;
    this.#instruments = operation.instruments;
    this.#state = state;
    this.#labels = { [ATTRIBUTE.agentName]: state.agentName };
    this.#instruments?.activeRuns.add(1, this.#labels);
    watchWaiting(recorder, operation, invocation, this.#labels);
    if (operation.isRecording) {
      this.#folder = recorder.settings.captureContent ? new PieceFolder() : undefined;
      quietly(() => operation.set(startAttributes(recorder, invocation)));
    }
  }

  saw(update: RunUpdate): void {
    this.#usage.add(update.contents);
    this.#finishReason = update.finishReason ?? this.#finishReason;
    this.#folder?.add(update);
  }

  finish(): void {
    this.#instruments?.activeRuns.add(-1, this.#labels);
    for (const tool of this.#state.openTools) {
      tool.fail(new DOMException("The run ended before the tool", "AbortError"));
    }
    if (this.operation.isRecording) {
      this.operation.set({
        ...this.#usage.attributes(),
        [ATTRIBUTE.finishReasons]: this.#finishReason === undefined ? undefined : [this.#finishReason],
        [ATTRIBUTE.outputMessages]: this.#folder?.text(),
      });
    }
  }
}

function startAttributes(recorder: Recorder, { agent, session, runId, input }: RunInvocation): Attributes {
  const { captureContent, captureIds, captureOwner } = recorder.settings;
  return {
    [ATTRIBUTE.agentDescription]: agent.description,
    ...(captureIds ? { [ATTRIBUTE.runId]: runId, [ATTRIBUTE.conversationId]: session?.sessionId } : {}),
    ...(captureOwner ? { [ATTRIBUTE.endUserId]: session?.owner ?? undefined } : {}),
    ...(captureContent ? { [ATTRIBUTE.inputMessages]: inputText(input) } : {}),
  };
}

/** Input that is refused by the run is shown by its error. */
function inputText(input: MessagesInput): string | undefined {
  try {
    return messagesText(messagesFromInput(input, (index) => String(index)));
  } catch {
    return undefined;
  }
}

/** A span and a count for as long as the run stands behind another one. */
function watchWaiting(recorder: Recorder, operation: Operation, invocation: RunInvocation, labels: Attributes): void {
  const outer = invocation.onWait;
  invocation.onWait = () => {
    const outerOver = outer?.();
    const waiting = operation.run(() =>
      recorder.begin({ name: "wait_for_conversation", kind: "internal", attributes: {}, measure: () => undefined }),
    );
    operation.instruments?.waitingRuns.add(1, labels);
    return () => {
      operation.instruments?.waitingRuns.add(-1, labels);
      waiting?.end();
      outerOver?.();
    };
  };
}
