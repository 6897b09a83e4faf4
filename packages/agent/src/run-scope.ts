import type {
  ChatClient,
  ChatMiddleware,
  ChatOptions,
  DiagnosticEvent,
  FunctionMiddleware,
  Message,
  Run,
  Tool,
} from "@agentfw/core";
import type { Interruption } from "./abortable.ts";
import type { MessageFolder } from "./message-folder.ts";
import type { ModelInput } from "./model-input.ts";

/** Limits and habits of the function loop. */
export interface LoopSettings {
  readonly maxModelCalls: number;
  readonly maxConsecutiveErrors: number;
  readonly includeToolErrors: boolean;
}

/** All that one run works with, once its providers have been asked. */
export interface RunScope {
  readonly run: Run;
  /** True when the caller named the run, so it may have been attempted before. */
  readonly isNamed: boolean;
  /** Whether an earlier attempt at the run may have left a part of itself: it is stored as it happens. */
  readonly persistence: "per-run" | "per-service-call";
  readonly modelInput: ModelInput;
  readonly client: ChatClient;
  readonly chatOptions: ChatOptions;
  readonly settings: LoopSettings;
  readonly interruption: Interruption;
  /** The tools of the model call at hand. */
  tools: ReadonlyMap<string, Tool>;
  /** Whether the service keeps the conversation, so that an id that it gives is the session's. */
  readonly serviceStores: boolean;
  chatMiddleware(): readonly ChatMiddleware[];
  functionMiddleware(): readonly FunctionMiddleware[];
  /** Asks the tools again, before a model call. */
  refreshTools(): void;
  /** Hands what was produced to the providers, in per-service-call mode. */
  persist(): Promise<void>;
  /**
   * Stores answers to approval requests before their calls run, in per-service-call mode.
   *
   * @throws `conflict` when another run stored one of them first.
   */
  claim(answers: readonly Message[]): Promise<void>;
  report(event: Omit<DiagnosticEvent, "provider">): void;
  /**
   * What the model call at hand has produced so far, for an answer that breaks off. Not a function: engines keep all
   * that one reaches alive for long when it is put into an object in place of another one.
   */
  draft: MessageFolder | undefined;
}
