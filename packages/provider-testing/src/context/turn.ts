import {
  AgentSession,
  type ContextProvider,
  type DiagnosticEvent,
  type Message,
  type MessageInput,
  messageText,
  RunContext,
  type Tool,
} from "@agentfw/core";
import { Run } from "@agentfw/core/run";

/** One run as a clause wants it. */
export interface TurnOptions {
  readonly session: AgentSession;
  readonly runId: string;
  /** Text, or messages. @default a text that no clause looks for */
  readonly input?: string | readonly Message[] | undefined;
  readonly ephemeral?: boolean | undefined;
  readonly serviceManaged?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * One run of an agent without the agent: calls the hooks of the providers as an agent does, and holds what they added.
 * The model is the clause.
 */
export class Turn {
  readonly run: Run;
  /** What the providers reported. */
  readonly events: DiagnosticEvent[] = [];
  readonly #contexts: readonly { readonly provider: ContextProvider; readonly context: RunContext }[];
  readonly #begun = new Set<ContextProvider>();

  constructor(providers: readonly ContextProvider[], options: TurnOptions) {
    const { session, runId, input = "Something else.", ephemeral = false, serviceManaged = false, signal } = options;
    const messages = typeof input === "string" ? [text("user", `${runId}:i0`, input)] : input;
    const onDiagnostic = (event: DiagnosticEvent) => void this.events.push(event);
    this.run = new Run({ runId, session, ephemeral, serviceManaged, signal, input: messages, onDiagnostic });
    this.#contexts = providers.map((provider) => ({ provider, context: new RunContext(this.run, provider) }));
  }

  /** Calls `beforeRun` of each, in their order. */
  async begin(): Promise<this> {
    for (const { provider, context } of this.#contexts) {
      this.#begun.add(provider);
      await provider.beforeRun?.(context);
    }
    return this;
  }

  /** The model answers; in per-service-call mode the providers hear of it at once. */
  async answer(
    answer: string | readonly Message[],
    { persist = false }: { readonly persist?: boolean } = {},
  ): Promise<this> {
    const messages = typeof answer === "string" ? [text("assistant", `${this.run.options.runId}:o0`, answer)] : answer;
    this.run.produced = [...this.run.produced, ...messages];
    if (persist) {
      for (const { provider, context } of this.#contexts) {
        await provider.persist?.(context);
      }
    }
    return this;
  }

  /** Calls `afterRun` of those whose run began, in reverse order, the one that loads history first. */
  async end(error?: unknown): Promise<void> {
    const { produced } = this.run;
    this.run.error = error;
    this.run.response =
      error === undefined ? { messages: produced, text: produced.map(messageText).join("") } : undefined;
    const reversed = this.#contexts.toReversed().filter(({ provider }) => this.#begun.has(provider));
    const loading = reversed.filter(({ provider }) => provider.loadsHistory === true);
    const others = reversed.filter(({ provider }) => provider.loadsHistory !== true);
    for (const { provider, context } of [...loading, ...others]) {
      await provider.afterRun?.(context);
    }
  }

  /** Stores answers to requests for approval, as an agent does before it runs what was approved. */
  async claim(answers: readonly Message[]): Promise<boolean | undefined> {
    const [entry] = this.#contexts;
    return entry?.provider.claim?.(entry.context, answers);
  }

  /** The messages that one source added, or all of them. */
  added(sourceId?: string): Message[] {
    return this.run.contributions
      .filter((contribution) => sourceId === undefined || contribution.sourceId === sourceId)
      .flatMap(({ messages }) => messages);
  }

  /** The tools that were added, asked for as they are before a model call. */
  tools(): Tool[] {
    return this.run.tools.flatMap((source) => (typeof source === "function" ? source() : source));
  }

  /** Everything the model would be told, as one text to look for words in. */
  told(): string {
    const tools = this.tools().map(({ name, description, parameters }) => ({ name, description, parameters }));
    return JSON.stringify([this.run.instructions, this.added(), tools]);
  }
}

/** A whole run with one provider: before, an answer, after. */
export async function fullTurn(provider: ContextProvider, options: TurnOptions, answer = "Well."): Promise<Turn> {
  const turn = await new Turn([provider], options).begin();
  await turn.answer(answer);
  await turn.end();
  return turn;
}

/** A message with one text. */
export function text(role: Message["role"], messageId: string, content: string): Message {
  return { role, messageId, contents: [{ type: "text", text: content }] };
}

/** A session that somebody owns. */
export function sessionOf(owner: string, sessionId = `session of ${owner}`): AgentSession {
  return new AgentSession({ owner, sessionId });
}

/** A provider that stands beside the one under test: adds one message, one line of instructions and one tool. */
export function companion(sourceId: string): ContextProvider {
  return {
    sourceId,
    async beforeRun(context) {
      const message: MessageInput = { role: "user", contents: `message of ${sourceId}` };
      context.addMessages(message);
      context.addInstructions(`instructions of ${sourceId}`);
      context.addTools([{ name: `tool_of_${sourceId}`, parameters: { type: "object", properties: {} } }]);
    },
  };
}
