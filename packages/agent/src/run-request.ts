import {
  AgentFrameworkError,
  AgentSession,
  assertName,
  assertObject,
  type ChatOptions,
  configurationError,
  toJson,
} from "@agentfw/core";
import type { AgentRunOptions } from "./agent-options.ts";
import { type AgentSettings, assertFailureOptions, mergeChatOptions } from "./agent-settings.ts";
import { assertChatOptions, assertList, assertOptional, assertSignal } from "./checks.ts";
import { assertMiddleware } from "./middleware.ts";

/** A run's options, checked. */
export interface RunRequest {
  readonly runId: string;
  /** True when the caller named the run, so it may have happened before. */
  readonly isNamed: boolean;
  readonly session: AgentSession;
  readonly ephemeral: boolean;
  readonly chatOptions: ChatOptions;
  /** Whether the service is to keep the conversation. */
  readonly serviceStores: boolean;
  /** The conversation that the service keeps already and that this run continues. */
  readonly conversationId: string | undefined;
  readonly onConflict: "error" | "retry";
  readonly onLoadFailure: "continue" | "error";
  /** Whether somebody reads the pieces of the run as they come. */
  readonly isRead: boolean;
  /** Told when the run has to wait for its conversation; see `AgentInvocation`. */
  readonly onWait?: (() => () => void) | undefined;
}

/**
 * Checks the options of a run, before anything is loaded, called or stored.
 *
 * @throws `configuration`, or `unauthorized` for a wrong or missing owner.
 */
export function runRequest(
  settings: AgentSettings,
  options: AgentRunOptions,
  runId: string,
  isRead: boolean,
): RunRequest {
  assertRunOptions(options);
  assertOwnership(settings, options);
  assertState(settings, options.session);
  const { session } = options;
  const instructions = [settings.instructions, settings.chatOptions.instructions, options.instructions]
    .filter((text) => text !== undefined && text !== "")
    .join("\n");
  const { instructions: _, ...base } = settings.chatOptions;
  const chatOptions = mergeChatOptions(instructions === "" ? base : { ...base, instructions }, options.chatOptions);
  return {
    runId,
    isNamed: options.runId !== undefined,
    session: session ?? new AgentSession(),
    ephemeral: session === undefined,
    chatOptions,
    onConflict: options.onConflict ?? settings.onConflict,
    onLoadFailure: options.onLoadFailure ?? settings.onLoadFailure,
    isRead,
    ...placeOf(settings, session, chatOptions),
  };
}

/**
 * The request once the conversation is this run's: a run before it may have bound the session to a service.
 *
 * @throws `configuration` as {@link runRequest} does.
 */
export function afterWaiting(settings: AgentSettings, request: RunRequest): RunRequest {
  return { ...request, ...placeOf(settings, request.session, request.chatOptions) };
}

/** Who keeps the conversation. */
function placeOf(
  settings: AgentSettings,
  session: AgentSession | undefined,
  chatOptions: ChatOptions,
): Pick<RunRequest, "conversationId" | "serviceStores"> {
  const serviceStores = chatOptions.store ?? settings.client.storesByDefault;
  const conversationId = conversationOf(session, chatOptions);
  assertPersistence(settings, conversationId, serviceStores);
  return { serviceStores, conversationId };
}

function assertRunOptions(options: AgentRunOptions): void {
  assertObject(options, "options");
  if (options.runId !== undefined) {
    assertName(options.runId, "runId");
  }
  assertSignal(options.signal, "signal");
  assertOptional(options.instructions, "string", "instructions");
  assertList(options.tools ?? [], "tools");
  assertMiddleware(options.middleware ?? [], "middleware");
  assertChatOptions(options.chatOptions, "chatOptions");
  assertFailureOptions(options);
  if (options.owner !== undefined && options.owner !== null && typeof options.owner !== "string") {
    throw configurationError("owner", "must be a string, or null for nobody");
  }
}

function assertOwnership(settings: AgentSettings, { session, owner }: AgentRunOptions): void {
  if (session === undefined) {
    if (owner !== undefined && owner !== null) {
      throw configurationError("owner", "needs a session that it owns");
    }
    return;
  }
  const isSession = typeof session === "object" && session !== null && "owner" in session && "sessionId" in session;
  if (!isSession || typeof session.toJSON !== "function") {
    throw configurationError("session", "must be an AgentSession; restore a serialized one with AgentSession.fromJSON");
  }
  if (owner !== undefined && owner !== session.owner) {
    throw new AgentFrameworkError("unauthorized", "session: belongs to another owner");
  }
  if (settings.requireOwner && session.owner === null) {
    throw new AgentFrameworkError("unauthorized", "session: has no owner, and this agent requires one");
  }
}

/** State that could not be saved is refused now, not when the turn has been paid for. */
function assertState(settings: AgentSettings, session: AgentSession | undefined): void {
  if (session !== undefined && !Object.isExtensible(session.state)) {
    throw configurationError("session.state", "must not be frozen: providers keep their state in it");
  }
  for (const [key, slice] of Object.entries(session?.state ?? {})) {
    // Histories are checked message by message; to do it again would cost more with every turn.
    if (!settings.sessionHistories.has(key)) {
      toJson(slice, `session.state.${key}`);
    }
  }
}

function conversationOf(session: AgentSession | undefined, options: ChatOptions): string | undefined {
  const bound = session?.serviceSessionId;
  const given = options.conversationId;
  if (bound !== undefined && given !== undefined && bound !== given) {
    throw configurationError(
      "chatOptions.conversationId",
      "differs from the conversation that the session is bound to",
    );
  }
  return bound ?? given;
}

function assertPersistence(settings: AgentSettings, conversationId: string | undefined, serviceStores: boolean): void {
  if (settings.historyPersistence === "per-service-call" && conversationId !== undefined && !serviceStores) {
    throw configurationError(
      "historyPersistence",
      "per-service-call keeps history locally, but the session is bound to a conversation that a service keeps",
    );
  }
}
