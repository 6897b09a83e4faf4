import { Agent, type AgentOptions, type AgentResponse, type AgentRunOptions } from "@agentfw/agent";
import {
  AgentSession,
  type ChatClient,
  type ChatRequestOptions,
  type ChatUpdate,
  type Content,
  type ContextProvider,
  type DiagnosticEvent,
  HistoryProvider,
  type HistoryProviderOptions,
  type HistoryStore,
  type Message,
  type MessagesInput,
  openConversation,
} from "@agentfw/core";
import { BACKENDS, type OpenData } from "./backends.ts";
import { requestFault } from "./valid-request.ts";

/** Where conversations are kept, and whether the runs are read as they happen. */
export interface Way {
  readonly backend: string;
  readonly openData: OpenData;
  readonly isStreamed: boolean;
}

export const WAYS: readonly Way[] = Object.entries(BACKENDS).flatMap(([backend, openData]) =>
  [false, true].map((isStreamed) => ({ backend, openData, isStreamed })),
);

export const MODES: readonly ["per-run", "per-service-call"] = ["per-run", "per-service-call"];

/** Empty data. What it gives makes a store of one process on it, and of another one when it is called again. */
export function dataOf({ openData }: Pick<Way, "openData">): Promise<() => HistoryStore> {
  return openData();
}

/** Pieces of an answer, one text or content each; `throws` ends it. */
export type Answer =
  | { readonly pieces: readonly (string | Content | ChatUpdate)[]; readonly throws?: unknown }
  | string;

/** A model that answers from a script, keeps what it was asked, and refuses what a strict service refuses. */
export class ScriptedModel implements ChatClient {
  readonly contractVersion = 1 as const;
  readonly storesByDefault: boolean;
  readonly calls: { readonly messages: readonly Message[]; readonly options: ChatRequestOptions }[] = [];
  readonly #script: Answer[];

  constructor(script: readonly Answer[], storesByDefault = false) {
    this.#script = [...script];
    this.storesByDefault = storesByDefault;
  }

  async *stream(messages: readonly Message[], options: ChatRequestOptions): AsyncGenerator<ChatUpdate> {
    this.calls.push({ messages: structuredClone([...messages]), options });
    const fault = this.storesByDefault ? undefined : requestFault(messages);
    const answer = this.#script.shift();
    if (fault !== undefined || answer === undefined) {
      throw new Error(`400 invalid request: ${fault ?? "the script has no further answer"}`);
    }
    const { pieces, throws } = typeof answer === "string" ? { pieces: [answer], throws: undefined } : answer;
    for (const piece of pieces) {
      options.signal?.throwIfAborted();
      yield updateOf(piece);
    }
    if (throws !== undefined) {
      throw throws;
    }
  }
}

function updateOf(piece: string | Content | ChatUpdate): ChatUpdate {
  if (typeof piece === "string") {
    return { contents: [{ type: "text", text: piece }] };
  }
  return "type" in piece ? { contents: [piece] } : piece;
}

/** What a stage is made of. */
export interface StageOptions extends Partial<Omit<AgentOptions, "client" | "contextProviders">> {
  readonly history?: HistoryProviderOptions;
  readonly observers?: readonly ContextProvider[];
  readonly storesByDefault?: boolean;
  /** In place of the scripted model. */
  readonly client?: ChatClient;
}

/** One process on the data of a test. */
export class Stage {
  readonly model: ScriptedModel;
  readonly agent: Agent;
  readonly diagnostics: DiagnosticEvent[] = [];
  readonly store: HistoryStore;
  readonly #isStreamed: boolean;

  constructor(
    store: HistoryStore,
    { isStreamed }: Pick<Way, "isStreamed">,
    script: readonly Answer[],
    options: StageOptions = {},
  ) {
    const { history, observers = [], storesByDefault, client, ...rest } = options;
    this.store = store;
    this.#isStreamed = isStreamed;
    this.model = new ScriptedModel(script, storesByDefault);
    this.agent = new Agent({
      client: client ?? this.model,
      contextProviders: [new HistoryProvider(store, history), ...observers],
      onDiagnostic: (event) => this.diagnostics.push(event),
      ...rest,
    });
  }

  session(): AgentSession {
    return this.agent.createSession({ sessionId: "s", owner: "ann" });
  }

  /** A run as the way says: folded, or read piece by piece. */
  async run(input: MessagesInput, options: AgentRunOptions = {}): Promise<AgentResponse> {
    const stream = this.agent.runStream(input, { session: this.session(), ...options });
    if (this.#isStreamed) {
      for await (const _ of stream) {
        // Reads all of it.
      }
    }
    return stream.finalResponse();
  }

  async stored(): Promise<Message[]> {
    const page = await openConversation(this.store, { owner: "ann", sessionId: "s" }).messages();
    return [...page.messages];
  }
}

/** The session in another process. */
export function restored(session: AgentSession): AgentSession {
  return AgentSession.fromJSON(JSON.stringify(session), { owner: session.owner });
}

/** A call of a tool, as a model asks for it. */
export function call(callId: string, name: string, args = "{}"): Content {
  return { type: "function_call", callId, name, arguments: args };
}

/** Messages as `role: contents`, to compare whole conversations. */
export function shape(messages: readonly Message[]): string[] {
  return messages.map(({ role, contents }) => `${role}: ${contents.map(contentShape).join(" | ")}`);
}

function contentShape(content: Content): string {
  switch (content.type) {
    case "text":
      return content.text;
    case "function_call":
      return `call ${content.callId}`;
    case "function_result":
      return `result ${content.callId} ${JSON.stringify(content.result)}`;
    default:
      return content.type;
  }
}

/** What a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("it was expected to reject");
    },
    (error: unknown) => error,
  );
}
