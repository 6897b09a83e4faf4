import type { ContextProvider } from "./context-provider.ts";
import { type DiagnosticEvent, type DiagnosticHandler, report } from "./diagnostics.ts";
import { configurationError } from "./errors.ts";
import { isPlainObject, toJson } from "./json.ts";
import { type Attribution, functionCalls, functionResults, type Message } from "./message.ts";
import { type MessagesInput, messagesFromInput } from "./message-codec.ts";
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
  /** True when the model service keeps the conversation: history is not loaded, but may be stored for audit. */
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
 * The state of one run, shared by its providers, each of which sees it through a {@link RunContext}. Made by the agent;
 * provider authors need it only to test a provider by itself.
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
  #input: readonly Message[];
  #ownSignal: AbortSignal | undefined;

  constructor(options: RunOptions) {
    this.options = options;
    this.#input = options.input;
  }

  /** The caller's signal, or one of this run's own that never fires: what is shared gathers the listeners of all runs. */
  get signal(): AbortSignal {
    this.#ownSignal ??= this.options.signal ?? new AbortController().signal;
    return this.#ownSignal;
  }

  /** The input without messages that turned out to be history. */
  get input(): readonly Message[] {
    return this.#input;
  }

  /** What the model is given, before what the run produces: contributions in provider order, then the input. */
  modelInput(): Message[] {
    // Not flatMap: twenty times slower, and called at least twice a run.
    const start: Message[] = [];
    return start.concat(...this.contributions.map(({ messages }) => messages), this.#input);
  }

  /**
   * Adds loaded history: its messages are never stored again, and input with the same ids is dropped. So are results for
   * calls that it knows the result of; `resultIds` gives, by call id, the ids of the results that the input holds, in order.
   */
  addHistory(sourceId: string, messages: readonly Message[], resultIds: ReadonlyMap<string, readonly string[]>): void {
    this.#contribute(sourceId, "history", messages);
    const given = new Set(this.#input.map(({ messageId }) => messageId));
    const fresh = without(this.#input, messages, given);
    // A transcript that is sent again may hold results under the caller's own ids.
    const input = withResultIds(fresh, resultIds);
    this.#input = input === fresh ? fresh : without(input, messages, new Set([...resultIds.values()].flat()));
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
  const known = new Set(history.map(({ messageId }) => messageId).filter((id) => candidates.has(id)));
  return known.size === 0 ? input : input.filter(({ messageId }) => !known.has(messageId));
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

/** Which messages of a run to read back. */
export interface RunMessagesFilter {
  /** Only what these sources added. */
  readonly sources?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly includeInput?: boolean | undefined;
  readonly includeResponse?: boolean | undefined;
}

/** One provider's view of a run. What it adds is stamped with its source id and lasts for this run only. */
export class RunContext {
  readonly #run: Run;
  readonly #sourceId: string;

  constructor(run: Run, provider: Pick<ContextProvider, "sourceId">) {
    this.#run = run;
    this.#sourceId = provider.sourceId;
  }

  /** The shared state of the run. */
  get run(): Run {
    return this.#run;
  }

  get runId(): string {
    return this.#run.options.runId;
  }

  /** The session; in a run without one, a temporary session that is forgotten afterwards. */
  get session(): AgentSession {
    return this.#run.options.session;
  }

  get owner(): string | null {
    return this.session.owner;
  }

  get ephemeral(): boolean {
    return this.#run.options.ephemeral;
  }

  get serviceManaged(): boolean {
    return this.#run.options.serviceManaged;
  }

  /** Fires when the caller gives the run up. Not meant for stores: what is to be stored is stored all the same. */
  get signal(): AbortSignal {
    return this.#run.signal;
  }

  /** What the caller passed, without messages that are in the loaded history already. */
  get input(): readonly Message[] {
    return this.#run.input;
  }

  /** Messages that the run has produced so far: the model's and the tools'. */
  get produced(): readonly Message[] {
    return this.#run.produced;
  }

  /** After an abort or a stream that was given up: the complete messages and the one that broke off. */
  get partial(): readonly Message[] {
    return this.#run.partial;
  }

  /** The agent's response, after success. */
  get response(): unknown {
    return this.#run.response;
  }

  /** What ended the run, after a failure. */
  get error(): unknown {
    return this.#run.error;
  }

  /** Adds messages for the model, in front of the input. The caller's objects are copied, never changed. */
  addMessages(messages: MessagesInput): void {
    const offset = this.#run.contributions.length;
    const copies = messagesFromInput(messages, (index) => `${this.runId}:${this.#sourceId}:${offset}.${index}`);
    const given: readonly unknown[] = Array.isArray(messages) ? messages : [messages];
    this.#run.addContext(
      this.#sourceId,
      copies.map((message, index) => withAttributionOf(message, given[index])),
    );
  }

  /** Adds loaded history. Only for a provider that loads it; see {@link Run.addHistory}. */
  addHistory(messages: readonly Message[], resultIds: ReadonlyMap<string, readonly string[]> = new Map()): void {
    this.#run.addHistory(this.#sourceId, messages, resultIds);
  }

  /** Adds instructions, each on a line of its own behind the agent's. */
  addInstructions(instructions: string | readonly string[]): void {
    this.#run.instructions.push(...(typeof instructions === "string" ? [instructions] : instructions));
  }

  /** Adds tools; a function is asked again before each model call. */
  addTools(tools: ToolSource): void {
    this.#run.tools.push(tools);
  }

  /** Adds chat or function middleware inside of the agent's own; agent middleware is refused with `configuration`. */
  addMiddleware(middleware: ContextMiddleware | readonly ContextMiddleware[]): void {
    const list: readonly ContextMiddleware[] = "kind" in middleware ? [middleware] : middleware;
    for (const entry of list) {
      if (entry.kind !== "chat" && entry.kind !== "function") {
        throw configurationError("middleware", `${this.#sourceId} may add chat and function middleware only`);
      }
    }
    this.#run.middleware.push(...list);
  }

  /** Messages of this run: what the sources added, in provider order, then the input, then the response. */
  messages(filter: RunMessagesFilter = {}): Message[] {
    const { sources, exclude } = filter;
    const chosen = this.#run.contributions.filter(
      ({ sourceId }) => (sources === undefined || sources.includes(sourceId)) && !exclude?.includes(sourceId),
    );
    return [
      ...chosen.flatMap((contribution) => contribution.messages),
      ...(filter.includeInput ? this.#run.input : []),
      ...(filter.includeResponse ? this.#run.produced : []),
    ];
  }

  /** Messages that other providers added as context, without any that came from a history. */
  contextMessages(sources?: readonly string[]): Message[] {
    return this.#run.contributions
      .filter(
        ({ sourceId, isHistory }) => !isHistory && sourceId !== this.#sourceId && (sources?.includes(sourceId) ?? true),
      )
      .flatMap((contribution) => contribution.messages);
  }

  /** Reports what was repaired, skipped, cut or retried. */
  report(event: Omit<DiagnosticEvent, "provider">): void {
    report(this.#run.options.onDiagnostic, {
      ...event,
      provider: this.#sourceId,
      sessionId: event.sessionId ?? this.session.sessionId,
    });
  }
}

/** Attribution that a message carries already stays: it crossed sessions, or another provider found it. */
function withAttributionOf(message: Message, given: unknown): Message {
  const attribution = isPlainObject(given) ? toJson(given["attribution"] ?? null, "attribution") : undefined;
  return isAttribution(attribution) ? { ...message, attribution } : message;
}

function isAttribution(value: unknown): value is Attribution {
  return (
    isPlainObject(value) &&
    typeof value["sourceId"] === "string" &&
    /^(history|context)$/.test(`${value["sourceType"]}`)
  );
}
