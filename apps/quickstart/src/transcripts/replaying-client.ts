import { functionMiddleware } from "@agentfw/agent";
import type { ChatClient, ChatUpdate, Content, FunctionMiddleware, Json, Tool } from "@agentfw/core";
import { ExplainedError } from "../errors.ts";
import { marked } from "./marks.ts";
import type { PlannedAnswer, PlannedRun } from "./plan.ts";
import { callsOf } from "./to-messages.ts";

/**
 * Gives the recorded answers of one run, one for each model call, in pieces as a service would. When the recording has no
 * further answer it gives nothing, and nothing is stored.
 */
export class ReplayingClient implements ChatClient {
  readonly contractVersion = 1;
  readonly storesByDefault = false;
  readonly #tools: ReplayingTools;
  #answers: readonly PlannedAnswer[] = [];
  #next = 0;

  constructor(tools: ReplayingTools) {
    this.#tools = tools;
  }

  /** Takes up the script of the next run. */
  prepare(run: PlannedRun): void {
    this.#answers = run.answers;
    this.#next = 0;
  }

  /** @throws ExplainedError when the run made fewer model or tool calls than were recorded. */
  assertDone(): void {
    if (this.#next < this.#answers.length) {
      throw new ExplainedError(`the agent asked the model ${this.#next} times, not ${this.#answers.length}`);
    }
    this.#tools.assertDone();
  }

  async *stream(): AsyncGenerator<ChatUpdate, void> {
    this.#tools.assertDone();
    const answer = this.#answers[this.#next];
    if (answer === undefined) {
      return;
    }
    this.#next += 1;
    this.#tools.prepare(answer);
    const { authorName, marks, contents } = answer.message;
    yield { role: "assistant", ...(authorName === undefined ? {} : { authorName }), ...marked(marks), contents: [] };
    for (const content of contents) {
      yield* pieces(content);
    }
    yield { finishReason: callsOf(answer.message).length === 0 ? "stop" : "tool_calls" };
  }
}

function* pieces(content: Content): Generator<ChatUpdate> {
  if (content.type === "text" && content.additionalProperties === undefined) {
    const half = Math.ceil(content.text.length / 2);
    yield { contents: [{ ...content, text: content.text.slice(0, half) }] };
    yield { contents: [{ ...content, text: content.text.slice(half) }] };
  } else if (content.type === "function_call") {
    const half = Math.ceil(content.arguments.length / 2);
    yield { contents: [{ ...content, arguments: content.arguments.slice(0, half) }] };
    // Without a name: it continues the call.
    const { type, callId } = content;
    yield { contents: [{ type, callId, name: "", arguments: content.arguments.slice(half) }] };
  } else {
    yield { contents: [content] };
  }
}

/** Tools that give the recorded results. */
export class ReplayingTools {
  #results = new Map<string, Json[]>();

  /**
   * The tools that a run needs. Where calls are left to the caller, they are declared and cannot run.
   *
   * A tool takes whatever arguments were recorded, so they are made without checks.
   */
  of(run: PlannedRun): Tool[] {
    const names = new Set(run.answers.flatMap(({ message }) => callsOf(message)).map(({ name }) => name));
    const parameters = { type: "object" };
    return [...names].map((name) =>
      run.leavesCallsOpen ? { name, parameters } : { name, parameters, execute: (_, { callId }) => this.#take(callId) },
    );
  }

  /** The function loop refuses arguments that are not JSON; here they were recorded, and so was what came of them. */
  readonly middleware: FunctionMiddleware = functionMiddleware((invocation, next) => {
    invocation.args ??= {};
    return next();
  });

  prepare({ message, results }: PlannedAnswer): void {
    this.#results = new Map();
    for (const [index, { callId }] of callsOf(message).entries()) {
      const result = results[index];
      if (result !== undefined) {
        this.#results.set(callId, [...(this.#results.get(callId) ?? []), result]);
      }
    }
  }

  assertDone(): void {
    const left = [...this.#results.values()].reduce((sum, results) => sum + results.length, 0);
    if (left > 0) {
      throw new ExplainedError(`the agent made ${left} tool calls fewer than were recorded`);
    }
  }

  #take(callId: string): Json {
    const result = this.#results.get(callId)?.shift();
    if (result === undefined) {
      throw new ExplainedError(`the recording has no result for the call ${callId}`);
    }
    return result;
  }
}
