import {
  assertCount,
  assertObject,
  assertTimeout,
  type ChatClient,
  type ChatOptions,
  type ContextProvider,
  configurationError,
  type DiagnosticHandler,
  InMemoryHistoryProvider,
  type Tool,
} from "@agentfw/core";
import type { AgentOptions, VerifyServiceSession } from "./agent-options.ts";
import { assertChatOptions, assertList, assertOneOf, assertOptional } from "./checks.ts";
import { assertMiddleware, type Middleware } from "./middleware.ts";
import { assertClient } from "./model-call.ts";
import type { LoopSettings } from "./run-scope.ts";
import { collectTools } from "./tool-calls.ts";

/** Options of an agent, checked and complete. */
export interface AgentSettings {
  readonly client: ChatClient;
  readonly name: string | undefined;
  readonly providers: readonly ContextProvider[];
  /** Keeps history in the session, for agents without a provider that loads it. */
  readonly defaultHistory: InMemoryHistoryProvider;
  /** Loads what that one kept, and keeps nothing: for the turn in which a conversation goes to a service. */
  readonly formerHistory: InMemoryHistoryProvider;
  /** The slices of `session.state` in which providers keep history. */
  readonly sessionHistories: ReadonlySet<string>;
  readonly instructions: string | undefined;
  readonly tools: readonly Tool[];
  readonly middleware: readonly Middleware[];
  readonly chatOptions: ChatOptions;
  readonly historyPersistence: "per-run" | "per-service-call";
  readonly requireOwner: boolean;
  readonly verifyServiceSession: VerifyServiceSession | undefined;
  readonly concurrency: "queue" | "reject";
  readonly queueTimeoutMs: number;
  readonly onConflict: "error" | "retry";
  readonly onLoadFailure: "continue" | "error";
  readonly loop: LoopSettings;
  readonly onDiagnostic: DiagnosticHandler | undefined;
}

/** Checks an agent's options. @throws `configuration` naming the option. */
export function agentSettings(options: AgentOptions): AgentSettings {
  assertOptions(options);
  const { contextProviders = [], middleware = [], tools = [], historyPersistence = "per-run" } = options;
  const { concurrency = "queue", queueTimeoutMs = 30_000, maxModelCalls = 40, maxConsecutiveErrors = 3 } = options;
  const { onConflict = "error", onLoadFailure = "error" } = options;
  assertProviders(contextProviders);
  assertMiddleware(middleware, "middleware");
  collectTools([tools]);
  assertOneOf(historyPersistence, ["per-run", "per-service-call"], "historyPersistence");
  assertOneOf(concurrency, ["queue", "reject"], "concurrency");
  assertFailureOptions({ onConflict, onLoadFailure });
  assertTimeout(queueTimeoutMs, "queueTimeoutMs");
  assertCount(maxModelCalls, "maxModelCalls", 1);
  assertCount(maxConsecutiveErrors, "maxConsecutiveErrors", 1);
  const sourceId = defaultSourceId(contextProviders);
  const defaultHistory = new InMemoryHistoryProvider({ sourceId });
  const formerHistory = new InMemoryHistoryProvider({ sourceId, storeInputs: false, storeOutputs: false });
  const histories = [...contextProviders.filter((entry) => entry instanceof InMemoryHistoryProvider), defaultHistory];
  return {
    client: options.client,
    name: options.name,
    providers: [...contextProviders],
    defaultHistory,
    formerHistory,
    sessionHistories: new Set(histories.map((history) => history.sourceId)),
    instructions: options.instructions,
    tools: [...tools],
    middleware: [...middleware],
    chatOptions: options.chatOptions ?? {},
    historyPersistence,
    requireOwner: options.requireOwner ?? false,
    verifyServiceSession: options.verifyServiceSession,
    concurrency,
    queueTimeoutMs,
    onConflict,
    onLoadFailure,
    loop: { maxModelCalls, maxConsecutiveErrors, includeToolErrors: options.includeToolErrors ?? false },
    onDiagnostic: options.onDiagnostic,
  };
}

/** Refuses what a run does not know to do when its history fails it. */
export function assertFailureOptions(options: { onConflict?: unknown; onLoadFailure?: unknown }): void {
  const { onConflict = "error", onLoadFailure = "error" } = options;
  assertOneOf(onConflict, ["error", "retry"], "onConflict");
  assertOneOf(onLoadFailure, ["error", "continue"], "onLoadFailure");
}

function assertOptions(options: AgentOptions): void {
  assertObject(options, "options");
  assertClient(options.client);
  for (const name of ["name", "description", "instructions"] as const) {
    assertOptional(options[name], "string", name);
  }
  assertOptional(options.requireOwner, "boolean", "requireOwner");
  assertOptional(options.includeToolErrors, "boolean", "includeToolErrors");
  assertOptional(options.verifyServiceSession, "function", "verifyServiceSession");
  assertOptional(options.onDiagnostic, "function", "onDiagnostic");
  assertChatOptions(options.chatOptions, "chatOptions");
}

/** The usual name, unless a provider that does not load history has it: two must not write into one slice. */
function defaultSourceId(providers: readonly ContextProvider[]): string {
  let sourceId = "in_memory";
  while (providers.some((provider) => provider.sourceId === sourceId)) {
    sourceId += "_history";
  }
  return sourceId;
}

function assertProviders(providers: readonly ContextProvider[]): void {
  assertList(providers, "contextProviders");
  const seen = new Set<string>();
  let loader: string | undefined;
  for (const [index, provider] of providers.entries()) {
    const sourceId: unknown = provider?.sourceId;
    if (typeof sourceId !== "string" || sourceId === "") {
      throw configurationError(`contextProviders[${index}].sourceId`, "must be a non-empty string");
    }
    if (seen.has(sourceId)) {
      throw configurationError(`contextProviders[${index}].sourceId`, `"${sourceId}" is taken by another provider`);
    }
    seen.add(sourceId);
    for (const hook of ["beforeRun", "afterRun", "persist", "conversationPlace"] as const) {
      assertOptional(provider[hook], "function", `contextProviders[${index}].${hook}`);
    }
    if (provider.loadsHistory) {
      if (loader !== undefined) {
        throw configurationError(
          "contextProviders",
          `"${loader}" and "${sourceId}" both load history; set load: false on one of them`,
        );
      }
      loader = sourceId;
    }
  }
}

/** Options of a run over the agent's: a member that is `undefined` leaves the agent's as it is. */
export function mergeChatOptions(base: ChatOptions, over: ChatOptions | undefined): ChatOptions {
  if (over === undefined) {
    return base;
  }
  const given = Object.fromEntries(Object.entries(over).filter(([, value]) => value !== undefined));
  const instructions = [base.instructions, over.instructions].filter((text) => text !== undefined).join("\n");
  return {
    ...base,
    ...given,
    ...(instructions === "" ? {} : { instructions }),
    ...(base.metadata && over.metadata ? { metadata: { ...base.metadata, ...over.metadata } } : {}),
    ...(base.additionalProperties && over.additionalProperties
      ? { additionalProperties: { ...base.additionalProperties, ...over.additionalProperties } }
      : {}),
  };
}

/** The middleware of one kind, the agent's first. */
export function ofKind<K extends Middleware["kind"]>(
  kind: K,
  ...lists: readonly (readonly Middleware[])[]
): Extract<Middleware, { kind: K }>[] {
  const isOfKind = (entry: Middleware): entry is Extract<Middleware, { kind: K }> => entry.kind === kind;
  return lists.flat().filter(isOfKind);
}
