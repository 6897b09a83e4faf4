import type { ContextProvider } from "./context-provider.ts";
import { type DiagnosticEvent, report } from "./diagnostics.ts";
import { configurationError } from "./errors.ts";
import { isPlainObject, toJson } from "./json.ts";
import type { Attribution, Message } from "./message.ts";
import { type MessagesInput, messagesFromInput } from "./message-codec.ts";
import type { ContextMiddleware } from "./middleware.ts";
import type { Run, ToolSource } from "./run.ts";
import type { AgentSession } from "./session.ts";

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

  /** True when the run goes on with a conversation that the model service keeps already; in the run that begins one, false. */
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
