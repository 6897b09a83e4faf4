import { callSlots, type FunctionCallContent, type Json, type MessageInput } from "@agentfw/core";
import { isEmpty } from "./marks.ts";
import type { RecordedMessage } from "./recording.ts";
import { asInput, callsOf, hasOnlyFunctionCalls, type PreparedMessage, prepare } from "./to-messages.ts";

/** One answer of the model, and what its tools gave. */
export interface PlannedAnswer {
  readonly message: PreparedMessage;
  /** The results of its calls, in the order of the calls; empty when nothing runs them. */
  readonly results: readonly Json[];
}

/** One run of the agent. */
export interface PlannedRun {
  readonly input: readonly MessageInput[];
  readonly answers: readonly PlannedAnswer[];
  /** The calls of the last answer are left to the caller: their tools are declared, and nothing runs them. */
  readonly leavesCallsOpen: boolean;
  /**
   * False: the history must not be loaded before this run, because the framework would close a call that has no result,
   * or drop a second result of one call; the recording has neither.
   */
  readonly loads: boolean;
}

/** How a recording is brought into the store. */
export interface Plan {
  readonly runs: readonly PlannedRun[];
  /** Calls whose results come from tools that the function loop runs. */
  readonly loopCalls: number;
  readonly calls: number;
  /**
   * True when every call has its result right behind it, in the order of the calls, and no result stands alone. Only such
   * a conversation is sent to a model as it stands; the framework repairs every other one when it loads it.
   */
  readonly isRegular: boolean;
}

/** Cuts a recording into runs. */
export function planRuns(recorded: readonly RecordedMessage[]): Plan {
  return new Planner(recorded.map(prepare)).plan();
}

class Planner {
  readonly #messages: readonly PreparedMessage[];
  readonly #runs: PlannedRun[] = [];
  /** Ids of the calls that have no result so far; an id may stand here more than once. */
  readonly #open: string[] = [];
  /** Ids of all calls so far. */
  readonly #known = new Set<string>();
  #index = 0;
  #loopCalls = 0;

  constructor(messages: readonly PreparedMessage[]) {
    this.#messages = messages;
  }

  plan(): Plan {
    while (this.#index < this.#messages.length) {
      this.#planRun();
    }
    const calls = this.#messages.reduce((sum, message) => sum + callsOf(message).length, 0);
    return { runs: this.#runs, loopCalls: this.#loopCalls, calls, isRegular: isRegular(this.#messages) };
  }

  #planRun(): void {
    const inputs = this.#takeInputs();
    const loads = fitsHistory(this.#open, this.#known, inputs);
    for (const input of inputs) {
      this.#noteInput(input);
    }
    const answers: PlannedAnswer[] = [];
    let leavesCallsOpen = false;
    for (let next = this.#next(); next !== undefined && isAnswer(next); next = this.#next()) {
      const calls = callsOf(next);
      const batch = calls.length === 0 ? undefined : this.#batchBehind(next);
      leavesCallsOpen = calls.length > 0 && batch === undefined;
      if (leavesCallsOpen && answers.length > 0) {
        // In a run of its own, whose tools are declared only.
        leavesCallsOpen = false;
        break;
      }
      answers.push(answerOf(next, batch ?? []));
      this.#index += 1 + (batch?.length ?? 0);
      this.#loopCalls += batch?.length ?? 0;
      if (batch === undefined) {
        this.#open.push(...calls.map(({ callId }) => callId));
        break;
      }
    }
    for (const { message } of answers) {
      this.#noteCalls(message);
    }
    this.#runs.push({ input: inputs.map(asInput), answers, leavesCallsOpen, loads });
  }

  /** What stands before the next answer. */
  #takeInputs(): PreparedMessage[] {
    const inputs: PreparedMessage[] = [];
    for (let next = this.#next(); next !== undefined && !isAnswer(next); next = this.#next()) {
      inputs.push(next);
      this.#index += 1;
    }
    return inputs;
  }

  #next(): PreparedMessage | undefined {
    return this.#messages[this.#index];
  }

  #noteCalls(message: PreparedMessage): void {
    for (const { callId } of callsOf(message)) {
      this.#known.add(callId);
    }
  }

  #noteInput(message: PreparedMessage): void {
    this.#open.push(...callsOf(message).map(({ callId }) => callId));
    this.#noteCalls(message);
    for (const callId of resultIds(message)) {
      const position = this.#open.indexOf(callId);
      if (position >= 0) {
        this.#open.splice(position, 1);
      }
    }
  }

  /** The results right behind a message when there is one for each of its calls, in order; else nothing. */
  #batchBehind(message: PreparedMessage): PreparedMessage[] | undefined {
    const calls = callsOf(message);
    const behind = this.#messages.slice(this.#index + 1, this.#index + 1 + calls.length);
    const slots = callSlots({ role: "assistant", messageId: "m", contents: message.contents });
    const isDistinct = new Set(slots.map(({ resultId }) => resultId)).size === slots.length;
    return areResultsOf(calls, behind) && isDistinct && hasOnlyFunctionCalls(message) ? behind : undefined;
  }
}

/** The names that the framework gives to tools, as model services demand. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** True for what a model can answer by itself. A message that calls a tool by another name goes in as input. */
function isAnswer(message: PreparedMessage): boolean {
  return message.role === "assistant" && callsOf(message).every(({ name }) => TOOL_NAME.test(name));
}

function areResultsOf(calls: readonly FunctionCallContent[], results: readonly PreparedMessage[]): boolean {
  return calls.every(({ callId }, index) => results[index]?.role === "tool" && resultIds(results[index])[0] === callId);
}

function isRegular(messages: readonly PreparedMessage[]): boolean {
  let expected = 0;
  for (const [index, message] of messages.entries()) {
    const calls = callsOf(message);
    if (message.role === "tool" ? expected === 0 : expected > 0) {
      return false;
    }
    if (!areResultsOf(calls, messages.slice(index + 1, index + 1 + calls.length)) || !hasOnlyFunctionCalls(message)) {
      return false;
    }
    expected = message.role === "tool" ? expected - 1 : calls.length;
  }
  return true;
}

function answerOf(message: PreparedMessage, batch: readonly PreparedMessage[]): PlannedAnswer {
  const marks = batch.map((result) => result.marks);
  const results = batch.flatMap(({ contents }) =>
    contents.flatMap((content) => (content.type === "function_result" ? [content.result] : [])),
  );
  const isPlain = marks.every(isEmpty);
  return { message: isPlain ? message : { ...message, marks: { ...message.marks, results: marks } }, results };
}

function resultIds({ role, contents }: PreparedMessage): string[] {
  return role === "tool"
    ? contents.flatMap((content) => (content.type === "function_result" ? [content.callId] : []))
    : [];
}

/**
 * Whether the framework would leave everything as it is when it loads the history for this input: the input answers
 * every open call, each with an id that no other has, and no call that has its result. It would close other calls, and
 * take a second result of one call for the first one, sent again.
 */
function fitsHistory(open: readonly string[], known: ReadonlySet<string>, inputs: readonly PreparedMessage[]): boolean {
  const answered = inputs.flatMap(resultIds).filter((callId) => known.has(callId));
  // Ids of this form are also made for calls that share an id.
  const isDistinct = new Set(open).size === open.length && !open.some((callId) => /#\d+$/.test(callId));
  return isDistinct && answered.length === open.length && open.every((callId) => answered.includes(callId));
}
