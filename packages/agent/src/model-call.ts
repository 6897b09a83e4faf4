import {
  AgentFrameworkError,
  type ChatInvocation,
  type ChatRequestOptions,
  type ChatUpdate,
  type Content,
  configurationError,
  type Message,
  type Tool,
  type ToolDefinition,
} from "@agentfw/core";
import { readAborting } from "./abortable.ts";
import { type MessageCounter, MessageNamer } from "./message-namer.ts";
import { composeStreams } from "./middleware.ts";
import { checkedUpdate } from "./model-answer.ts";
import type { AgentUpdate } from "./response.ts";
import type { RunScope } from "./run-scope.ts";
import { noteConversation } from "./service-session.ts";

/** What a model call is about. */
export interface ModelCall {
  readonly messages: readonly Message[];
  readonly options: ChatRequestOptions;
  readonly counter: MessageCounter;
  /** Called when it goes to the model: a chat middleware may answer in its place. */
  readonly onSent: () => void;
}

/** One model call through the chat middleware; `onUpdate` gets it as pieces of messages that have our ids. */
export async function callModel(
  scope: RunScope,
  { messages, options, counter, onSent }: ModelCall,
  onUpdate: (update: AgentUpdate) => Promise<void> | void,
): Promise<void> {
  const { run } = scope;
  const session = run.options.ephemeral ? undefined : run.options.session;
  const invocation: ChatInvocation = { runId: run.options.runId, session, messages, options };
  const updates = composeStreams(scope.chatMiddleware(), invocation, () => {
    onSent();
    return clientUpdates(scope, invocation);
  });
  const namer = new MessageNamer(run.options.runId, counter);
  await readAborting(updates, scope.interruption, (given) => {
    const update = checkedUpdate(given);
    if (given.contents?.some(isApproval)) {
      scope.report({ type: "approval_ignored", message: "an approval in an answer of the model is left out" });
    }
    noteConversation(scope, update.conversationId);
    return update.contents?.some(isResult) ? handOn(namer.separated(update), onUpdate) : onUpdate(namer.name(update));
  });
}

async function handOn(updates: readonly AgentUpdate[], onUpdate: (update: AgentUpdate) => unknown): Promise<void> {
  for (const update of updates) {
    await onUpdate(update);
  }
}

function isApproval({ type }: Content): boolean {
  return type === "function_approval_response";
}

function isResult({ type }: Content): boolean {
  return type === "function_result";
}

function clientUpdates({ client }: RunScope, { messages, options }: ChatInvocation): AsyncIterable<ChatUpdate> {
  if (typeof client.stream === "function") {
    return client.stream(messages, options);
  }
  return (async function* () {
    if (client.complete !== undefined) {
      yield await client.complete(messages, options);
    }
  })();
}

/** The options of a model call: what the run was given, with instructions and tools. */
export function requestOptions(scope: RunScope, toolsOff: boolean): ChatRequestOptions {
  const { instructions: own, conversationId: given, ...options } = scope.chatOptions;
  const { session } = scope.run.options;
  const instructions = [own, ...scope.run.instructions].filter((text) => text !== undefined && text !== "").join("\n");
  const conversationId = session.serviceSessionId ?? given;
  const tools = [...scope.tools.values()].map(definition);
  return {
    ...options,
    ...(scope.interruption.signal === undefined ? {} : { signal: scope.interruption.signal }),
    ...(conversationId === undefined ? {} : { conversationId }),
    ...(instructions === "" ? {} : { instructions }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(toolsOff && tools.length > 0 ? { toolChoice: "none" } : {}),
  };
}

function definition({ name, description, parameters }: Tool): ToolDefinition {
  return description === undefined ? { name, parameters } : { name, description, parameters };
}

/**
 * Refuses a client that this runtime cannot drive.
 *
 * @throws `configuration` for what is no client, `unsupported` for one made for a later contract.
 */
export function assertClient(client: unknown): void {
  const isClient =
    typeof client === "object" &&
    client !== null &&
    (("stream" in client && typeof client.stream === "function") ||
      ("complete" in client && typeof client.complete === "function"));
  if (!isClient) {
    throw configurationError("client", "must be a ChatClient, with stream or complete");
  }
  if (!("contractVersion" in client) || typeof client.contractVersion !== "number") {
    throw configurationError("client.contractVersion", "must be a number");
  }
  if (client.contractVersion !== 1) {
    const message = `client: contract version ${client.contractVersion} is not one that this agent speaks`;
    throw new AgentFrameworkError("unsupported", message);
  }
  if (!("storesByDefault" in client) || typeof client.storesByDefault !== "boolean") {
    throw configurationError("client.storesByDefault", "must be true or false");
  }
}
