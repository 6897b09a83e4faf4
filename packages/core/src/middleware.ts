import type { Message } from "./message.ts";
import type { ChatRequestOptions, ChatUpdate } from "./ports/chat-types.ts";
import type { AgentSession } from "./session.ts";
import type { FunctionInvocation } from "./tool.ts";

/** One model call on its way through chat middleware. `messages` and `options` may be replaced before `next`. */
export interface ChatInvocation {
  readonly runId: string;
  readonly session: AgentSession | undefined;
  messages: readonly Message[];
  options: ChatRequestOptions;
}

/**
 * Wraps each model call. Write it as an async generator: what comes before `yield* next()` runs before the call, what
 * comes after it runs after, and not calling `next` replaces the call.
 */
export interface ChatMiddleware {
  readonly kind: "chat";
  handle(invocation: ChatInvocation, next: () => AsyncIterable<ChatUpdate>): AsyncIterable<ChatUpdate>;
}

/** Wraps each tool call. `next` runs the tool and gives its result; not calling it replaces the result. */
export interface FunctionMiddleware {
  readonly kind: "function";
  handle(invocation: FunctionInvocation, next: () => Promise<unknown>): Promise<unknown>;
}

/** What a context provider may add to a run. */
export type ContextMiddleware = ChatMiddleware | FunctionMiddleware;
