import type { FunctionCallContent } from "./content.ts";
import type { ToolDefinition } from "./ports/chat-types.ts";
import type { AgentSession } from "./session.ts";

/** What a tool is told about the call that it serves. */
export interface ToolContext {
  readonly runId: string;
  readonly callId: string;
  /**
   * The same for every retry of one `runId` in one session, and another one for every other call, so that a tool can
   * refuse to act twice. At most 64 characters, and says nothing about who asks: it may be handed to other services.
   */
  readonly idempotencyKey: string;
  /** The session of the run; `undefined` in a run without one. */
  readonly session: AgentSession | undefined;
  /** The trusted owner of the session. */
  readonly owner: string | null;
  readonly signal: AbortSignal;
}

/**
 * Something the model can call. Without `execute` it is a declaration: the run ends at the call, and the caller
 * answers with a `function_result` in the next run.
 */
export interface Tool extends ToolDefinition {
  /** Whether a person must approve a call before it runs: always, or depending on its arguments. */
  readonly approval?: "required" | ((args: unknown, context: ToolContext) => boolean | Promise<boolean>) | undefined;

  /** Checks and converts the arguments; throws with a message that the model can act on. */
  readonly parse?: ((args: unknown) => unknown) | undefined;

  /** Does the work. May be called concurrently. What it throws becomes an error result; what it returns must be JSON. */
  readonly execute?: ((args: unknown, context: ToolContext) => unknown) | undefined;
}

/** A call on its way through function middleware. */
export interface FunctionInvocation {
  readonly tool: Tool;
  readonly call: FunctionCallContent;
  /** What the tool will be given. Middleware may replace it. */
  args: unknown;
  readonly context: ToolContext;
  /** Ends the tool loop after the calls of this batch; their results are kept. */
  terminate(): void;
}
