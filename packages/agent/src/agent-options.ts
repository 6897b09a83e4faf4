import type { AgentSession, ChatClient, ChatOptions, ContextProvider, DiagnosticHandler, Tool } from "@agentfw/core";
import type { Middleware } from "./middleware.ts";

/**
 * Whether a conversation at the model service is its owner's: look it up where you keep which id is whose. Asked before a
 * run resumes a conversation whose id came from outside: from a session's JSON, `getSession` or `conversationId`. `signal`
 * fires when the run is given up. What is thrown ends the run; it is never taken for an answer.
 */
export type VerifyServiceSession = (
  serviceSessionId: string,
  owner: string | null,
  options: { readonly signal: AbortSignal },
) => boolean | Promise<boolean>;

/** Options of {@link Agent}. */
export interface AgentOptions {
  /** The model service. */
  readonly client: ChatClient;
  /** Shown to other agents and in traces. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** What the model is told in every run. Never part of the history. */
  readonly instructions?: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
  /**
   * History and context providers, in the order in which their messages reach the model. Source ids must be unique, and
   * at most one provider may load history; without one, history is kept in the session.
   */
  readonly contextProviders?: readonly ContextProvider[] | undefined;
  /** The first of a kind is the outermost. */
  readonly middleware?: readonly Middleware[] | undefined;
  /** Options of every model call. */
  readonly chatOptions?: ChatOptions | undefined;
  /**
   * When history is stored: once at the end of a run, so that a run is stored whole or not at all; or around each model
   * call, so that no tool runs twice when a crashed run is taken up again. @default "per-run"
   */
  readonly historyPersistence?: "per-run" | "per-service-call" | undefined;
  /** Refuse sessions that nobody owns with `unauthorized`. @default false */
  readonly requireOwner?: boolean | undefined;
  /** Refuses conversations at the model service that are not their owner's, with `unauthorized`. @default not asked */
  readonly verifyServiceSession?: VerifyServiceSession | undefined;
  /** What a second run on a conversation does while one is under way. @default "queue" */
  readonly concurrency?: "queue" | "reject" | undefined;
  /** How long a queued run waits before it fails with `timeout`. @default 30,000 */
  readonly queueTimeoutMs?: number | undefined;
  /**
   * What a run does when its history provider, with `conditionalAppend` on, finds that another process wrote since the
   * load. `"error"`: it rejects with `conflict` and carries the response. `"retry"`: it loads again, in three attempts at
   * most, with a short random wait before each. An answer to a history that is unchanged in what the run has loaded is
   * stored as it is; otherwise the model is asked again, unless a tool has run, a part is stored, or a reader of the
   * stream has seen something: then it rejects with `conflict`. @default "error"
   */
  readonly onConflict?: "error" | "retry" | undefined;
  /**
   * What a run does when its history cannot be loaded, for `unavailable` and `timeout`. `"error"`: it rejects before the
   * model is called. `"continue"`: it goes on without, the response's `historyError` says so, and the provider that
   * failed stores nothing of it. A run that has a `runId`, or whose input answers earlier calls or approval requests,
   * rejects all the same: what it needs is in the history. @default "error"
   */
  readonly onLoadFailure?: "continue" | "error" | undefined;
  /** Model calls with tools in one run; then one more without. @default 40 */
  readonly maxModelCalls?: number | undefined;
  /** Batches of tool calls that may fail one after another before tools are switched off. @default 3 */
  readonly maxConsecutiveErrors?: number | undefined;
  /** Tell the model what a tool's error says. Errors may hold what a model must not see. @default false */
  readonly includeToolErrors?: boolean | undefined;
  /** Hears of everything that was repaired, skipped, cut or retried. */
  readonly onDiagnostic?: DiagnosticHandler | undefined;
}

/** Options of one run. What is given here wins over the agent's; instructions and tools add to it. */
export interface AgentRunOptions {
  /** The conversation. Without it the run is ephemeral: nothing is loaded or stored. */
  readonly session?: AgentSession | undefined;
  /** Who asks; when given, `unauthorized` unless it is the session's owner. */
  readonly owner?: string | null | undefined;
  /**
   * Names the run, so that a retry of it is stored once: message ids derive from it, and when the answer is stored
   * already it is returned without a model call. Other input under a name that is stored is not run, and reported as
   * `run_input_ignored`. @default a fresh id
   */
  readonly runId?: string | undefined;
  /**
   * Gives the run up; it rejects with the signal's reason. Some versions of Node, 20 among them, collect a time limit
   * that only `AbortSignal.any` knows of before it fires (nodejs/node 57736): keep a reference to it.
   */
  readonly signal?: AbortSignal | undefined;
  readonly instructions?: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
  /** Inside of the agent's own. */
  readonly middleware?: readonly Middleware[] | undefined;
  readonly chatOptions?: ChatOptions | undefined;
  /** As the agent's option. @default the agent's */
  readonly onConflict?: "error" | "retry" | undefined;
  /** As the agent's option. @default the agent's */
  readonly onLoadFailure?: "continue" | "error" | undefined;
}

/** How to make a session; see `AgentSession`. */
export type CreateSessionOptions =
  | { readonly sessionId: string; readonly owner: string | null }
  | { readonly sessionId?: undefined; readonly owner?: string | null | undefined };

/**
 * How to name a conversation that exists: by its id, by the id that a service gave it, or both. The owner must be said;
 * `null` says that nobody owns it.
 */
export interface GetSessionOptions {
  readonly sessionId?: string | undefined;
  readonly serviceSessionId?: string | undefined;
  readonly owner: string | null;
}
