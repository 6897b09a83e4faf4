import type { Message } from "./message.ts";
import type { RunContext } from "./run-context.ts";
import type { AgentSession } from "./session.ts";

/** What runs at most one at a time: `key` within `scope`, a store or a session. */
export interface ConversationPlace {
  readonly scope: object;
  readonly key: string;
}

/**
 * Adds to runs and learns from them. One instance serves all sessions at once, so it keeps nothing about a session in
 * itself: that belongs in `session.state` or in a store.
 */
export interface ContextProvider {
  /** Unique among the providers of an agent. Names the provider's slice of `session.state` and stamps what it adds. */
  readonly sourceId: string;

  /** True for a provider that loads the conversation's history. An agent has at most one. */
  readonly loadsHistory?: boolean | undefined;

  /** Called before the first model call, in the order of the list. What it throws ends the run. */
  beforeRun?(context: RunContext): Promise<void>;

  /**
   * Called once for every run that began, in reverse order, the one that loads history first: with `response` after
   * success, with `error` after a failure, an abort, or a stream that was given up. When the loading provider throws,
   * the run rejects and the error carries the response; what others throw is reported.
   */
  afterRun?(context: RunContext): Promise<void>;

  /**
   * Called in per-service-call mode whenever `context.produced` has grown: after a model call and before its tools
   * start, and after each tool result. Store what is not stored yet; `afterRun` still follows.
   */
  persist?(context: RunContext): Promise<void>;

  /**
   * Called in per-service-call mode before calls run that a person has approved, with the answers as messages whose ids
   * are the same in every process: stores them, and nothing else. False when another run stored one of them first, which
   * then runs the calls; this run ends with `conflict`.
   */
  claim?(context: RunContext, answers: readonly Message[]): Promise<boolean>;

  /** The place in which runs of a session are queued one behind another. */
  conversationPlace?(session: AgentSession): ConversationPlace;
}
