import {
  AgentFrameworkError,
  type ContextProvider,
  type Message,
  MessageHistoryProvider,
  type MessagesInput,
  report,
} from "@agentfw/core";
import { Run } from "@agentfw/core/run";
import { Interruption } from "./abortable.ts";
import type { AgentRunOptions } from "./agent-options.ts";
import { type AgentSettings, ofKind } from "./agent-settings.ts";
import { withoutRequests } from "./approvals.ts";
import { AttemptPieces, ConflictAttempts, mayLackHistory, obstacleToRepeat } from "./conflict-attempts.ts";
import { enterConversation, type PlaceLease } from "./conversation-queue.ts";
import { functionLoop } from "./function-loop.ts";
import { ModelInput } from "./model-input.ts";
import { heldPlaces, insideOf } from "./nesting.ts";
import { partialOf, unfinished } from "./partial-answer.ts";
import { ProviderHooks } from "./provider-hooks.ts";
import { AgentUpdate, ResponseFolder } from "./response.ts";
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
    await perform(settings, { request, options, input: messages, lease: undefined, emit });
    return;
  }
  const lease = await enter(settings, request, signal);
  let pieces: AttemptPieces;
  try {
    const admitted = { request: afterWaiting(settings, request), options, input: messages, lease, emit };
    pieces = await perform(settings, admitted);
  } finally {
    lease.release();
  }
  await pieces.release(emit);
}

interface AdmittedRun {
  readonly request: RunRequest;
  readonly options: AgentRunOptions;
  readonly input: readonly Message[];
  readonly lease: PlaceLease | undefined;
  readonly emit: Emit<AgentUpdate>;
}

/** The run, tried again when its history turns out to be another one and the options say so. */
async function perform(settings: AgentSettings, admitted: AdmittedRun): Promise<AttemptPieces> {
  const { request, options } = admitted;
  const interruption = new Interruption(options.signal);
  const mayRetry = request.onConflict === "retry" && !request.ephemeral;
  const attempts = mayRetry ? new ConflictAttempts(interruption) : undefined;
  try {
    for (;;) {
      // The attempts are counted, and waited for, where the conflict is noticed.
      const pieces = await performOnce(settings, admitted, interruption, attempts);
      if (pieces !== undefined) {
        return pieces;
      }
    }
  } finally {
    interruption.dispose();
  }
}

/** One attempt. Gives its pieces, or `undefined` when there is to be another. */
async function performOnce(
  settings: AgentSettings,
  admitted: AdmittedRun,
  interruption: Interruption,
  attempts: ConflictAttempts | undefined,
): Promise<AttemptPieces | undefined> {
  const { request, options, input, lease, emit } = admitted;
  const { signal } = options;
  const { runId, session, ephemeral, conversationId } = request;
  const serviceManaged = conversationId !== undefined;
  const { onDiagnostic } = settings;
  const run = new Run({ runId, session, ephemeral, serviceManaged, signal, input, onDiagnostic });
  const providers = providersOf(settings, request);
  const pieces = new AttemptPieces(paced(emit, lease, interruption), attempts !== undefined && !request.isRead);
  const hooks = new ProviderHooks(run, providers, {
    attempts,
    obstacle: (isAnswered) => obstacleToRepeat(run, pieces, isAnswered),
    mayLackHistory: mayLackHistory(request, input),
    isNamed: request.isNamed,
  });
  const scope = scopeOf({ settings, request, options, run, hooks, interruption });
  const verify = () => verifyConversation(settings.verifyServiceSession, session, conversationId, run.signal);
  const start = () => attempt(scope, hooks, verify, (update) => pieces.emit(update));
  try {
    await (lease !== undefined && mayNest(settings, options, providers) ? insideOf(lease, start) : start());
  } catch (error) {
    if (hooks.isToBeRepeated) {
      return undefined;
    }
    throw error;
  }
  return pieces;
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
  const show = (update: AgentUpdate) => {
    const shown = hooks.loss === undefined ? update : new AgentUpdate({ ...update, historyError: hooks.loss });
    folder.add(shown);
    return emit(shown);
  };
  try {
    await interruption.race(verify);
    await interruption.race(() => hooks.before());
    if (hooks.loss !== undefined) {
      await show(new AgentUpdate({ messageId: `${run.options.runId}:o0`, role: "assistant", contents: [] }));
    }
    await functionLoop(scope, show);
    reportMissingConversation(scope);
  } catch (error) {
    // Sloppy code rejects with nothing; providers must not take that for success.
    run.error = error ?? new AgentFrameworkError("unavailable", "the run ended with an empty error");
    if (interruption.isAborted || isAbandoned(error)) {
      run.partial = partialOf(run, (scope.draft?.messages() ?? []).flatMap(unfinished));
    }
    await hooks.after();
    throw hooks.withAnswerSoFar(error, folder.toResponse(run.options.runId));
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
