import {
  AgentFrameworkError,
  type AgentSession,
  groupMessages,
  isPlainObject,
  type Message,
  messageFromJson,
  messageToJson,
} from "@agentfw/core";

/** Where a session keeps what its conversation at a service waits for; there only as long as it waits. */
const KEY = "agentfw.service_calls";

/** Calls that a service knows of and whose results it has not been told. */
export interface OpenCalls {
  /** The calls, requests for approval, answers and results; what else was said the service has. */
  readonly messages: readonly Message[];
  /** Ids of messages whose calls the service was told to wait for: their results come as calls of their own. */
  readonly deferred: readonly string[];
  /** Ids of the input that led to the calls. The service has it. */
  readonly input: readonly string[];
}

const NONE: OpenCalls = { messages: [], deferred: [], input: [] };

/**
 * What the conversation of a session waits for.
 *
 * @throws `corrupt` for what this version cannot read; it is left as it is.
 */
export function readOpenCalls({ state, serviceSessionId }: AgentSession): OpenCalls {
  const kept = Object.hasOwn(state, KEY) ? state[KEY] : undefined;
  if (kept === undefined || serviceSessionId === undefined) {
    return NONE;
  }
  try {
    if (!isPlainObject(kept)) {
      throw new AgentFrameworkError("corrupt", "it is no object");
    }
    // A session that was bound to another conversation since waits for nothing of this one.
    return kept["conversation"] === serviceSessionId ? parsed(kept) : NONE;
  } catch (cause) {
    throw new AgentFrameworkError("corrupt", `state.${KEY}: cannot be read`, { cause });
  }
}

/** Puts what is open in place of what was; nothing is kept when nothing is open. */
export function writeOpenCalls({ state, serviceSessionId }: AgentSession, open: OpenCalls): void {
  const messages = open.messages.flatMap(callsOnly).map((message) => messageToJson(message));
  if (messages.length === 0) {
    delete state[KEY];
    return;
  }
  const { deferred, input } = open;
  state[KEY] = { conversation: serviceSessionId, messages, deferred: [...deferred], input: [...input] };
}

/** By call id, the ids that the results in an input get for these calls, also where a result is known already. */
export function resultIdsFor(messages: readonly Message[], input: readonly Message[]): Map<string, string[]> {
  const given = new Set(
    input.flatMap(({ contents }) =>
      contents.flatMap((content) => (content.type === "function_result" ? [content.callId] : [])),
    ),
  );
  const ids = new Map<string, string[]>();
  const slots = groupMessages(messages).groups.flatMap(({ items }) => items.flatMap((item) => item.slots));
  for (const { call, resultId } of slots) {
    if (given.has(call.callId)) {
      ids.set(call.callId, [...(ids.get(call.callId) ?? []), resultId]);
    }
  }
  return ids;
}

function parsed(kept: Record<string, unknown>): OpenCalls {
  const messages = listIn(kept["messages"]).map((message) => messageFromJson(message));
  return { messages, deferred: listIn(kept["deferred"]).map(String), input: listIn(kept["input"]).map(String) };
}

function listIn(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw new AgentFrameworkError("corrupt", "a member is no list");
  }
  return value;
}

function callsOnly({ role, messageId, contents, additionalProperties }: Message): Message[] {
  const kept = contents.filter(({ type }) => type.startsWith("function_"));
  const properties = additionalProperties === undefined ? {} : { additionalProperties };
  return kept.length === 0 ? [] : [{ role, messageId, contents: kept, ...properties }];
}
