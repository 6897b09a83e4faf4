import {
  AgentFrameworkError,
  type ContextProvider,
  groupMessages,
  groupToMessages,
  interruptedResult,
  isPendingApproval,
  type Message,
  MessageHistoryProvider,
  type MessagesInput,
  openCalls,
  report,
} from "@agentfw/core";
import { Run } from "@agentfw/core/run";
import { Interruption } from "./abortable.ts";
import type { AgentRunOptions } from "./agent-options.ts";
import { type AgentSettings, ofKind } from "./agent-settings.ts";
import { withoutRequests } from "./approvals.ts";
import { enterConversation, type PlaceLease } from "./conversation-queue.ts";
import { functionLoop } from "./function-loop.ts";
import { ModelInput } from "./model-input.ts";
import { heldPlaces, insideOf } from "./nesting.ts";
import { ProviderHooks } from "./provider-hooks.ts";
import { type AgentUpdate, ResponseFolder } from "./response.ts";
import { runInput } from "./run-input.ts";
import { afterWaiting, type RunRequest } from "./run-request.ts";
import type { RunScope } from "./run-scope.ts";
import { reportMissingConversation, verifyConversation } from "./service-session.ts";
import { collectTools } from "./tool-calls.ts";
import { type Emit, isAbandoned } from "./update-channel.ts";

/**
 * One run, inside of the agent middleware: enter the conversation, ask the providers, loop over model and tools, let
 * the providers store, leave the conversation.
 */
export async function pipeline(
  settings: AgentSettings,
  request: RunRequest,
  options: AgentRunOptions,
  input: MessagesInput,
  emit: Emit<AgentUpdate>,
): Promise<void> {
  const { signal } = options;
  signal?.throwIfAborted();
  const messages = cleanInput(settings, request, input);
  if (request.ephemeral) {
    return perform(settings, { request, options, input: messages, lease: undefined, emit });
  }
  const lease = await enter(settings, request, signal);
  try {
    await perform(settings, { request: afterWaiting(settings, request), options, input: messages, lease, emit });
  } finally {
    lease.release();
  }
}

interface AdmittedRun {
  readonly request: RunRequest;
  readonly options: AgentRunOptions;
  readonly input: readonly Message[];
  readonly lease: PlaceLease | undefined;
  readonly emit: Emit<AgentUpdate>;
}

async function perform(settings: AgentSettings, admitted: AdmittedRun): Promise<void> {
  const { request, options, input, lease, emit } = admitted;
  const { signal } = options;
  const { runId, session, ephemeral, conversationId } = request;
  const serviceManaged = conversationId !== undefined;
  const { onDiagnostic } = settings;
  const run = new Run({ runId, session, ephemeral, serviceManaged, signal, input, onDiagnostic });
  const providers = providersOf(settings, request);
  const interruption = new Interruption(signal);
  const hooks = new ProviderHooks(run, providers);
  const scope = scopeOf({ settings, request, options, run, hooks, interruption });
  const verify = () => verifyConversation(settings.verifyServiceSession, session, conversationId, run.signal);
  const start = () => attempt(scope, hooks, verify, paced(emit, lease, interruption));
  try {
    await (lease !== undefined && mayNest(settings, options, providers) ? insideOf(lease, start) : start());
  } finally {
    interruption.dispose();
  }
}

/** Whether code of somebody else's is part of the run and may start runs of its own. Keeping track is not free. */
function mayNest(settings: AgentSettings, options: AgentRunOptions, providers: readonly ContextProvider[]): boolean {
  return (
    settings.tools.length > 0 ||
    settings.middleware.length > 0 ||
    options.tools !== undefined ||
    options.middleware !== undefined ||
    providers.some((provider) => !(provider instanceof MessageHistoryProvider))
  );
}

/** While a reader thinks, its run may have to give way to others on the conversation. */
function paced(emit: Emit<AgentUpdate>, lease: PlaceLease | undefined, interruption: Interruption): Emit<AgentUpdate> {
  return (update) => {
    const read = emit(update);
    if (read === undefined) {
      return;
    }
    lease?.pause();
    // An abort ends the run also when its reader never comes back.
    return interruption.race(() => read).then(() => lease?.resume());
  };
}

/** The run itself; the providers' after hooks see how it ended, once. */
async function attempt(
  scope: RunScope,
  hooks: ProviderHooks,
  verify: () => Promise<void>,
  emit: Emit<AgentUpdate>,
): Promise<void> {
  const { run, interruption } = scope;
  const folder = new ResponseFolder();
  try {
    await interruption.race(verify);
    await interruption.race(() => hooks.before());
    await functionLoop(scope, (update) => {
      folder.add(update);
      return emit(update);
    });
    reportMissingConversation(scope);
  } catch (error) {
    // Sloppy code rejects with nothing; providers must not take that for success.
    run.error = error ?? new AgentFrameworkError("unavailable", "the run ended with an empty error");
    if (interruption.isAborted || isAbandoned(error)) {
      run.partial = partialOf(run, (scope.draft?.messages() ?? []).flatMap(unfinished));
    }
    await hooks.after();
    throw error;
  }
  run.response = folder.toResponse(run.options.runId);
  await hooks.after();
}

function cleanInput(settings: AgentSettings, request: RunRequest, input: MessagesInput): Message[] {
  const notice = (type: string, message: string) => (messageId: string) =>
    report(settings.onDiagnostic, {
      type,
      provider: settings.name ?? "agent",
      message,
      sessionId: request.ephemeral ? undefined : request.session.sessionId,
      messageId,
    });
  const { messages, empty } = runInput(input, request.runId);
  empty.forEach(notice("empty_message_dropped", "a message in the input holds nothing and is left out"));
  return withoutRequests(
    messages,
    notice("approval_ignored", "an approval request in the input is left out; only a stored one can be answered"),
  );
}

/** A session without a provider that loads history gets one for this run; the agent's own list stays as it is. */
function providersOf(settings: AgentSettings, request: RunRequest): readonly ContextProvider[] {
  const { session, ephemeral, conversationId, serviceStores } = request;
  const { providers, defaultHistory, formerHistory } = settings;
  if (ephemeral || conversationId !== undefined || providers.some((provider) => provider.loadsHistory)) {
    return providers;
  }
  if (!serviceStores) {
    return [...providers, defaultHistory];
  }
  return Object.hasOwn(session.state, formerHistory.sourceId) ? [...providers, formerHistory] : providers;
}

async function enter(
  settings: AgentSettings,
  request: RunRequest,
  signal: AbortSignal | undefined,
): Promise<PlaceLease> {
  const { session } = request;
  const loader = providersOf(settings, request).find((provider) => provider.loadsHistory);
  const place = loader?.conversationPlace?.(session) ?? { scope: session, key: "" };
  const { concurrency, queueTimeoutMs } = settings;
  const onGaveWay = () =>
    report(settings.onDiagnostic, {
      type: "stream_gave_way",
      provider: settings.name ?? "agent",
      message: "nobody read the stream, so its place on the conversation went to the next run",
      sessionId: session.sessionId,
    });
  const entered = enterConversation(place, { concurrency, queueTimeoutMs, signal, held: heldPlaces(), onGaveWay });
  if (!(entered instanceof Promise)) {
    return entered;
  }
  const over = request.onWait?.();
  return over === undefined ? entered : entered.finally(over);
}

interface ScopeParts {
  readonly settings: AgentSettings;
  readonly request: RunRequest;
  readonly options: AgentRunOptions;
  readonly run: Run;
  readonly hooks: ProviderHooks;
  readonly interruption: Interruption;
}

function scopeOf({ settings, request, options, run, hooks, interruption }: ScopeParts): RunScope {
  const own = [settings.middleware, options.middleware ?? []];
  const perCall = settings.historyPersistence === "per-service-call" && !request.ephemeral;
  // No accessors: an object that is made with its own ones costs more than the rest of a short run.
  const scope: RunScope = {
    run,
    isNamed: request.isNamed,
    persistence: request.conversationId === undefined ? settings.historyPersistence : "per-service-call",
    modelInput: new ModelInput(run, request.serviceStores, (event) => scope.report(event)),
    client: settings.client,
    chatOptions: request.chatOptions,
    settings: settings.loop,
    interruption,
    serviceStores: request.serviceStores,
    tools: new Map(),
    chatMiddleware: () => ofKind("chat", ...own, run.middleware),
    functionMiddleware: () => ofKind("function", ...own, run.middleware),
    refreshTools: () => {
      const added = run.tools.map((source) => (typeof source === "function" ? source() : source));
      scope.tools = collectTools([settings.tools, options.tools ?? [], ...added]);
    },
    persist: async () => {
      scope.modelInput.save();
      if (perCall) {
        await hooks.persist();
      }
    },
    claim: async (answers) => {
      if (perCall && answers.length > 0) {
        await hooks.claim(answers);
      }
    },
    report: (event) =>
      report(settings.onDiagnostic, {
        ...event,
        provider: settings.name ?? "agent",
        sessionId: request.ephemeral ? undefined : request.session.sessionId,
      }),
    draft: undefined,
  };
  return scope;
}

/** What an answer that broke off leaves: text and reasoning, marked as incomplete; half a call is no call. */
function unfinished(message: Message): Message[] {
  const contents = message.contents.filter((content) => !content.type.startsWith("function_"));
  return contents.length === 0 ? [] : [incomplete({ ...message, contents })];
}

/**
 * What the run made, with its results beside the calls that they answer. Calls whose tools were given up are closed, so
 * that what is kept loads as valid. What does not end in a question to the user is marked as incomplete, or a retry would
 * take it for the whole answer.
 */
function partialOf(run: Run, draft: readonly Message[]): Message[] {
  const made = [...run.produced, ...draft];
  const own = new Set(made.map(({ messageId }) => messageId));
  // With what is before the run: a call that was approved in it stands there.
  const { groups } = groupMessages([...run.modelInput(), ...made]);
  const ours = groups.filter(({ items }) =>
    items.some(
      ({ message, slots }) =>
        own.has(message.messageId) || slots.some(({ result }) => own.has(result?.messageId ?? "")),
    ),
  );
  for (const slot of ours.filter((group) => !isPendingApproval(group)).flatMap(openCalls)) {
    slot.result = interruptedResult(slot);
    own.add(slot.resultId);
  }
  const kept = ours.flatMap(groupToMessages).filter(({ messageId }) => own.has(messageId));
  const last = kept.at(-1);
  const newest = ours.at(-1);
  if (last !== undefined && newest !== undefined && !isPendingApproval(newest)) {
    kept[kept.length - 1] = incomplete(last);
  }
  return kept;
}

function incomplete(message: Message): Message {
  return { ...message, additionalProperties: { ...message.additionalProperties, incomplete: true } };
}
