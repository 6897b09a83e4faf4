import {
  type AgentSession,
  type ChatMiddleware,
  type ContextMiddleware,
  configurationError,
  type FunctionMiddleware,
  type MessagesInput,
} from "@agentfw/core";
import { assertList } from "./checks.ts";
import type { AgentUpdate } from "./response.ts";

/** One run on its way through agent middleware. `input` may be replaced before `next`. */
export interface AgentInvocation {
  /** Whose run it is. */
  readonly agent: { readonly name: string | undefined; readonly description: string | undefined };
  readonly runId: string;
  readonly session: AgentSession | undefined;
  readonly signal: AbortSignal;
  input: MessagesInput;
  /**
   * May be set before `next`: called when the run has to wait behind another one on its conversation. What it returns is
   * called once the wait is over, however it ends. Must not throw; middleware that finds one here calls it too.
   */
  onWait?: (() => () => void) | undefined;
}

/**
 * Wraps a whole run. Write it as an async generator: what comes before `yield* next()` runs before the run, what comes
 * after it runs after, and not calling `next` replaces the run; nothing is then loaded or stored.
 */
export interface AgentMiddleware {
  readonly kind: "agent";
  handle(invocation: AgentInvocation, next: () => AsyncIterable<AgentUpdate>): AsyncIterable<AgentUpdate>;
}

/** Any of the three kinds. The first in a list is the outermost of its kind. */
export type Middleware = AgentMiddleware | ContextMiddleware;

/** Makes agent middleware from a function. */
export function agentMiddleware(handle: AgentMiddleware["handle"]): AgentMiddleware {
  return { kind: "agent", handle };
}

/** Makes chat middleware from a function: it wraps each model call. */
export function chatMiddleware(handle: ChatMiddleware["handle"]): ChatMiddleware {
  return { kind: "chat", handle };
}

/** Makes function middleware from a function: it wraps each tool call. */
export function functionMiddleware(handle: FunctionMiddleware["handle"]): FunctionMiddleware {
  return { kind: "function", handle };
}

/** Refuses what is not one of the three kinds. */
export function assertMiddleware(middleware: readonly Middleware[], field: string): void {
  assertList(middleware, field);
  for (const [index, entry] of middleware.entries()) {
    const isKnown = ["agent", "chat", "function"].includes(entry?.kind) && typeof entry.handle === "function";
    if (!isKnown) {
      throw configurationError(`${field}[${index}]`, "must be agent, chat or function middleware");
    }
  }
}

/** Wraps `core` in middleware of one kind, the first outermost. */
export function compose<Invocation, Result>(
  middleware: readonly { handle(invocation: Invocation, next: () => Result): Result }[],
  invocation: Invocation,
  core: () => Result,
): Result {
  const step = (index: number): Result => {
    const entry = middleware[index];
    return entry === undefined ? core() : entry.handle(invocation, () => step(index + 1));
  };
  return step(0);
}

/** Middleware of a kind that streams: what each one gives must be there to be read. */
export function composeStreams<Invocation, Update>(
  middleware: readonly StreamMiddleware<Invocation, Update>[],
  invocation: Invocation,
  core: () => AsyncIterable<Update>,
): AsyncIterable<Update> {
  const checked = middleware.map((entry) => ({
    handle: (given: Invocation, next: () => AsyncIterable<Update>) => readable(entry.handle(given, next), entry.kind),
  }));
  return compose(checked, invocation, core);
}

interface StreamMiddleware<Invocation, Update> {
  readonly kind: "agent" | "chat";
  handle(invocation: Invocation, next: () => AsyncIterable<Update>): AsyncIterable<Update>;
}

/** An `async` function in place of an async generator gives a promise, which the language's own error does not tell. */
function readable<Update>(updates: AsyncIterable<Update>, kind: string): AsyncIterable<Update> {
  if (typeof updates !== "object" || updates === null || typeof updates[Symbol.asyncIterator] !== "function") {
    throw configurationError("middleware", `${kind} middleware must give an async iterable; write an async generator`);
  }
  return updates;
}
