import type { DiagnosticHandler } from "./diagnostics.ts";
import { type Attribution, functionCalls, functionResults, type Message } from "./message.ts";
import type { ContextMiddleware } from "./middleware.ts";
import type { AgentSession } from "./session.ts";
import type { Tool } from "./tool.ts";

/** Tools, or a function that is asked for them before each model call. */
export type ToolSource = readonly Tool[] | (() => readonly Tool[]);

/** What a run is made of when it begins. */
export interface RunOptions {
  readonly runId: string;
  /** The session, or a temporary one in an ephemeral run. */
  readonly session: AgentSession;
  /** True for a run without a session: history is neither loaded nor stored. */
  readonly ephemeral: boolean;
  /**
   * True when the run goes on with a conversation that the model service keeps already: history is not loaded, but may be
   * stored for audit. In the run that begins one it is false.
   */
  readonly serviceManaged: boolean;
  /** The caller's; `undefined` when nobody can give the run up. */
  readonly signal?: AbortSignal | undefined;
  readonly input: readonly Message[];
  readonly onDiagnostic?: DiagnosticHandler | undefined;
}

/** What one provider added, in the order in which it was added. */
interface Contribution {
  readonly sourceId: string;
  readonly isHistory: boolean;
  readonly messages: readonly Message[];
}

/**
 * The state of one run, shared by its providers, each of which sees it through a `RunContext`. Made by the agent;
 * provider authors need it only to test a provider by itself. A module of its own, because what stores and loads history
 * has no need to load it.
 */
export class Run {
  readonly options: RunOptions;
  readonly contributions: Contribution[] = [];
  readonly instructions: string[] = [];
  readonly tools: ToolSource[] = [];
  readonly middleware: ContextMiddleware[] = [];
  /** Messages that the run produced and that are complete so far. */
  produced: readonly Message[] = [];
  /** After an abort or a stream that was given up: what was there, marked as incomplete, without half a call. */
  partial: readonly Message[] = [];
  response: unknown;
  error: unknown;
  /** The input without messages that turned out to be history. */
  input: readonly Message[];
  #ownSignal: AbortSignal | undefined;

  constructor(options: RunOptions) {
    this.options = options;
    this.input = options.input;
  }

  /** The caller's signal, or one of this run's own that never fires: what is shared gathers the listeners of all runs. */
  get signal(): AbortSignal {
    this.#ownSignal ??= this.options.signal ?? new AbortController().signal;
    return this.#ownSignal;
  }

  /** What the model is given, before what the run produces: contributions in provider order, then the input. */
  modelInput(): Message[] {
    // Not flatMap: twenty times slower, and called at least twice a run.
    const start: Message[] = [];
    return start.concat(...this.contributions.map(({ messages }) => messages), this.input);
  }

  /**
   * Adds loaded history: its messages are never stored again, and input with the same ids is dropped. So are results for
   * calls that it knows the result of; `resultIds` gives, by call id, the ids of the results that the input holds, in order.
   */
  addHistory(sourceId: string, messages: readonly Message[], resultIds: ReadonlyMap<string, readonly string[]>): void {
    this.#contribute(sourceId, "history", messages);
    const given = new Set(this.input.map(({ messageId }) => messageId));
    const fresh = without(this.input, messages, given);
    // A transcript that is sent again may hold results under the caller's own ids.
    const input = withResultIds(fresh, resultIds);
    this.input = input === fresh ? fresh : without(input, messages, new Set([...resultIds.values()].flat()));
  }

  addContext(sourceId: string, messages: readonly Message[]): void {
    this.#contribute(sourceId, "context", messages);
  }

  #contribute(sourceId: string, sourceType: Attribution["sourceType"], messages: readonly Message[]): void {
    const attribution = { sourceId, sourceType };
    const stamped = messages.map((message) => withAttribution(message, attribution));
    this.contributions.push({ sourceId, isHistory: sourceType === "history", messages: stamped });
  }
}

function withAttribution(message: Message, attribution: Attribution): Message {
  // In front: engines copy an object many times faster when nothing is added behind it.
  return message.attribution === undefined ? { attribution, ...message } : message;
}

/** The input without what the history holds; `candidates` are the ids that are worth looking for. */
function without(
  input: readonly Message[],
  history: readonly Message[],
  candidates: ReadonlySet<string>,
): readonly Message[] {
  const found = history.filter(({ messageId }) => candidates.has(messageId));
  const known = new Set(found.map(({ messageId }) => messageId));
  return found.length === 0 ? input : input.filter(({ messageId }) => !known.has(messageId));
}

/** A caller's answers to calls in the history get the ids that every other writer of those results would use. */
function withResultIds(input: readonly Message[], ids: ReadonlyMap<string, readonly string[]>): readonly Message[] {
  if (ids.size === 0 || !input.some((message) => functionResults(message).length > 0)) {
    return input;
  }
  const ownCalls = new Set<string>();
  const left = new Map([...ids].map(([callId, resultIds]) => [callId, [...resultIds]]));
  return input.map((message) => {
    for (const { callId } of functionCalls(message)) {
      ownCalls.add(callId);
    }
    const [result, ...others] = functionResults(message);
    const isOwn = result === undefined || others.length > 0 || ownCalls.has(result.callId);
    const id = isOwn ? undefined : left.get(result.callId)?.shift();
    return id === undefined ? message : { ...message, messageId: id };
  });
}
