import { AgentFrameworkError, type AgentSession, configurationError, isAgentFrameworkError } from "@agentfw/core";
import type { VerifyServiceSession } from "./agent-options.ts";
import type { RunScope } from "./run-scope.ts";

/** The conversations that a service gave to session objects of this process. They came from nowhere else. */
const given = new WeakMap<AgentSession, string>();

/** An id of a conversation that the service keeps belongs on the session at once, also when a later call fails. */
export function noteConversation(scope: RunScope, conversationId: string | undefined): void {
  const { session } = scope.run.options;
  if (conversationId === undefined || conversationId === session.serviceSessionId) {
    return;
  }
  if (!scope.serviceStores) {
    scope.report({
      type: "service_conversation_ignored",
      message: "the service gave a conversation id although it does not keep the conversation",
    });
    return;
  }
  if (session.serviceSessionId === undefined) {
    scope.report({ type: "service_conversation_started", message: "the service keeps the conversation from here on" });
  }
  session.serviceSessionId = conversationId;
  given.set(session, conversationId);
}

/** Says so when the service was to keep the conversation and gave no id to continue it with. */
export function reportMissingConversation({ run, modelInput, report }: RunScope): void {
  const { session, ephemeral } = run.options;
  if (modelInput.isTold && !ephemeral && session.serviceSessionId === undefined) {
    report({
      type: "service_conversation_missing",
      message: "the service was to keep the conversation and gave no id to continue it with",
    });
  }
}

/**
 * Asks whether a conversation is its owner's before it is resumed. One that the service gave to this very session object
 * is not asked about.
 *
 * @throws `unauthorized` when it is not; what the hook throws, as `unavailable` unless it is one of ours.
 */
export async function verifyConversation(
  verify: VerifyServiceSession | undefined,
  session: AgentSession,
  conversationId: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (verify === undefined || conversationId === undefined || given.get(session) === conversationId) {
    return;
  }
  const isOwn: unknown = await asked(verify, conversationId, session.owner, signal);
  if (typeof isOwn !== "boolean") {
    throw configurationError("verifyServiceSession", "must answer true or false");
  }
  if (!isOwn) {
    throw new AgentFrameworkError("unauthorized", "serviceSessionId: is not the owner's conversation");
  }
}

async function asked(
  verify: VerifyServiceSession,
  conversationId: string,
  owner: string | null,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await verify(conversationId, owner, { signal });
  } catch (cause) {
    if (signal.aborted || isAgentFrameworkError(cause)) {
      throw cause;
    }
    throw new AgentFrameworkError("unavailable", "verifyServiceSession: failed, so nothing was sent", { cause });
  }
}
