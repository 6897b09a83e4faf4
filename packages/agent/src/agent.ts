import {
  AgentSession,
  assertObject,
  type ContextProvider,
  configurationError,
  type MessagesInput,
  type Tool,
} from "@agentfw/core";
import type { AgentOptions, AgentRunOptions, CreateSessionOptions, GetSessionOptions } from "./agent-options.ts";
import { type AgentSettings, agentSettings, ofKind } from "./agent-settings.ts";
import { type AsToolOptions, agentAsTool } from "./as-tool.ts";
import { type AgentInvocation, composeStreams } from "./middleware.ts";
import { pipeline } from "./pipeline.ts";
import { type AgentResponse, AgentResponseStream, type AgentUpdate } from "./response.ts";
import { runRequest } from "./run-request.ts";
import { type Emit, UpdateChannel } from "./update-channel.ts";

/** A class whose instances {@link Agent.getProvider} looks for. */
export type ProviderClass<T extends ContextProvider> = abstract new (...args: never[]) => T;

/** One run as it was asked for. */
interface Execution {
  readonly input: MessagesInput;
  readonly options: AgentRunOptions;
  readonly runId: string;
  readonly isRead: boolean;
  readonly emit: Emit<AgentUpdate>;
}

/**
 * A model with instructions, tools, history and context. Holds no conversation: that is in the session and in the
 * stores, so one agent serves all users at once, and any number of processes serve one user.
 */
export class Agent {
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly #settings: AgentSettings;

  /** @throws `configuration` naming the option, for two providers with one source id or two that load history too. */
  constructor(options: AgentOptions) {
    this.#settings = agentSettings(options);
    this.name = options.name;
    this.description = options.description;
  }

  /** A new conversation. Does no I/O. An id that you choose comes with its owner. */
  createSession(options: CreateSessionOptions = {}): AgentSession {
    assertObject(options, "options");
    return new AgentSession(options);
  }

  /**
   * A conversation that exists, by its id or by the id that a service gave it. Does no I/O.
   *
   * @throws `configuration` when neither id is given, or no owner.
   */
  getSession(options: GetSessionOptions): AgentSession {
    assertObject(options, "options");
    if (options.sessionId === undefined && options.serviceSessionId === undefined) {
      throw configurationError("sessionId", "must be given, or serviceSessionId; createSession makes a new one");
    }
    const { sessionId = crypto.randomUUID(), serviceSessionId, owner } = options;
    return new AgentSession({ sessionId, serviceSessionId, owner });
  }

  /**
   * Runs to the end and gives the response. The same as reading {@link Agent.runStream} to its end.
   *
   * @throws what the model client throws, unchanged; `AgentFrameworkError` for everything else. When the model had
   * answered but the history could not be stored, the error carries the response.
   */
  run(input: MessagesInput, options: AgentRunOptions = {}): Promise<AgentResponse> {
    return this.runStream(input, options).finalResponse();
  }

  /**
   * A run as it happens. Nothing starts before the first piece is asked for, so errors in the arguments show up there.
   * When the loop over it ends, everything is stored.
   */
  runStream(input: MessagesInput, options: AgentRunOptions = {}): AgentResponseStream {
    // Whatever is wrong with the options is an error of the run, and a run rejects.
    const runId = typeof options?.runId === "string" ? options.runId : crypto.randomUUID();
    return new AgentResponseStream(runId, (emit, isRead) => this.#execute({ input, options, runId, isRead, emit }));
  }

  /**
   * A provider of this agent, by its source id or its class; the one that keeps history in the session when no other
   * does is found by its class too.
   */
  getProvider(sourceId: string): ContextProvider | undefined;
  getProvider<T extends ContextProvider>(kind: ProviderClass<T>): T | undefined;
  getProvider(wanted: string | ProviderClass<ContextProvider>): ContextProvider | undefined {
    if (typeof wanted !== "string" && typeof wanted !== "function") {
      throw configurationError("getProvider", "takes a source id or a class of providers");
    }
    const all = [...this.#settings.providers, this.#settings.defaultHistory];
    return all.find((provider) =>
      typeof wanted === "string" ? provider.sourceId === wanted : provider instanceof wanted,
    );
  }

  /** This agent as a tool for another one. */
  asTool(options: AsToolOptions = {}): Tool {
    return agentAsTool(this, options);
  }

  async #execute({ input, options, runId, isRead, emit }: Execution): Promise<void> {
    const request = runRequest(this.#settings, options, runId, isRead);
    const middleware = ofKind("agent", this.#settings.middleware, options.middleware ?? []);
    if (middleware.length === 0) {
      return pipeline(this.#settings, request, options, input, emit);
    }
    const invocation: AgentInvocation = {
      agent: { name: this.name, description: this.description },
      runId,
      session: options.session,
      signal: options.signal ?? new AbortController().signal,
      input,
    };
    const updates = composeStreams<AgentInvocation, AgentUpdate>(middleware, invocation, () => {
      const inside = { ...request, onWait: invocation.onWait };
      return new UpdateChannel((inner) => pipeline(this.#settings, inside, options, invocation.input, inner));
    });
    for await (const update of updates) {
      await emit(update);
    }
  }
}
