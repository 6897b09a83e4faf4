import { assertCallOptions, assertTimeout, type CallOptions, type DiagnosticHandler, type Tags } from "@agentfw/core";
import { assertOneOf, assertOptions, type CallLimits } from "@agentfw/core/backend";
import type { TokenCredential } from "@azure/core-auth";
import type { HttpClient, PipelineOptions } from "@azure/core-rest-pipeline";
import { currentCallId } from "./call-id.ts";
import { assertDescription, assertItemTtl, assertServiceName, assertServiceTags } from "./input-checks.ts";
import { DEFAULT_TTL_SECONDS } from "./limits.ts";

/** What a store is created with. Where it exists already, the service ignores all of it; see `onMismatch`. */
export interface StoreCreationOptions {
  /** Keep the items of each user apart, by the call id of the request. Cannot be changed later. @default false */
  readonly userIsolation?: boolean | undefined;
  /** Idle life of items in seconds, 1 to 2,147,483,647, or -1 for never. Cannot be changed later. @default 2,592,000 (30 days) */
  readonly itemTtlSeconds?: number | undefined;
  /** At most 1,024 characters. */
  readonly description?: string | undefined;
  /** At most 16, names of at most 64 of `A-Za-z0-9_.-`, values of at most 256 characters. */
  readonly tags?: Tags | undefined;
  /**
   * What it means that the store exists with another `userIsolation` or `itemTtlSeconds` than was asked for here: `"fail"`,
   * or `"ignore"`. @default fail for the isolation, a diagnostic for the life of items
   */
  readonly onMismatch?: "fail" | "ignore" | undefined;
}

/** Options of `LocalStateStore.getOrCreate`. */
export interface LocalStateStoreOptions extends StoreCreationOptions, CallOptions {
  /** The folder for all stores of this machine, a file for each. @default ".agentfw/state-stores" in the home folder */
  readonly directory?: string | undefined;
  /** Take a store that asks for user isolation all the same: everyone then shares its items. @default false */
  readonly allowUnisolatedLocal?: boolean | undefined;
  /** Every call settles within this many milliseconds. @default 5,000 */
  readonly timeoutMs?: number | undefined;
  /** Receives what was decided without asking. @default none */
  readonly onDiagnostic?: DiagnosticHandler | undefined;
  /** Milliseconds since the epoch, for times and expiry. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** Options of `FoundryStateStore.getOrCreate`. */
export interface FoundryStateStoreOptions extends StoreCreationOptions, CallOptions {
  /** Gives tokens for `https://ai.azure.com/.default`. Needed for the service; for an emulator, any token does. */
  readonly credential?: TokenCredential | undefined;
  /** The project endpoint. @default `FOUNDRY_PROJECT_ENDPOINT`; without it, files on this machine unless hosted */
  readonly endpoint?: string | undefined;
  /** Speak to the agent-scoped surface of this agent, which is in preview, in place of the container's own. */
  readonly agentName?: string | undefined;
  /** Every call settles within this many milliseconds, retries included. @default 5,000 */
  readonly timeoutMs?: number | undefined;
  /** Proxy, TLS, user agent and retries, as for any Azure client. Writes are retried only where nothing was done. */
  readonly pipelineOptions?: PipelineOptions | undefined;
  /** What sends the requests. It stays the caller's. @default one for the process */
  readonly httpClient?: HttpClient | undefined;
  /** Where nothing hosted is configured: the folder of the files. @default ".agentfw/state-stores" in the home folder */
  readonly localDirectory?: string | undefined;
  /** Where nothing hosted is configured: take a store that asks for user isolation all the same. @default false */
  readonly allowUnisolatedLocal?: boolean | undefined;
  /** Receives what was decided without asking. @default none; that files are used is then a process warning, once */
  readonly onDiagnostic?: DiagnosticHandler | undefined;
}

/** What a new store is created with. */
export interface StoreCreation {
  readonly name: string;
  readonly userIsolation: boolean;
  readonly itemTtlSeconds: number;
  readonly description: string | undefined;
  readonly tags: Tags;
}

/** A call that opens a store. */
export interface OpeningCall extends CallLimits {
  readonly operation: "getOrCreate";
  readonly callId: string | undefined;
  /** When it must settle, on the clock of `performance.now()`. */
  readonly endsAt: number;
}

/** What both kinds of store have in common, checked. */
export interface CommonSettings {
  readonly creation: StoreCreation;
  /** What was said about what cannot be changed later. */
  readonly asked: Pick<StoreCreationOptions, "userIsolation" | "itemTtlSeconds" | "onMismatch">;
  readonly timeoutMs: number;
  readonly onDiagnostic: DiagnosticHandler | undefined;
  /** The call that asks for the store, whose time begins now. */
  readonly opening: OpeningCall;
}

const COMMON = [
  "userIsolation",
  "itemTtlSeconds",
  "description",
  "tags",
  "onMismatch",
  "timeoutMs",
  "onDiagnostic",
  "allowUnisolatedLocal",
  "signal",
];

const TYPES = {
  userIsolation: "boolean",
  allowUnisolatedLocal: "boolean",
  onDiagnostic: "function",
  now: "function",
} as const;

/** Checks what both kinds of store take; `own` are the options of one kind. @throws `configuration` naming option and rule */
export function resolveCommon(
  name: string,
  options: StoreCreationOptions & CallOptions & Pick<LocalStateStoreOptions, "timeoutMs" | "onDiagnostic">,
  own: readonly string[],
): CommonSettings {
  assertCallOptions(options);
  assertOptions(options, "options", [...COMMON, ...own], TYPES);
  const { userIsolation = false, itemTtlSeconds = DEFAULT_TTL_SECONDS, description = "", tags = {} } = options;
  const { onMismatch, timeoutMs = 5_000, onDiagnostic, signal } = options;
  assertServiceName(name, "name");
  assertItemTtl(itemTtlSeconds, "itemTtlSeconds");
  assertDescription(description);
  assertServiceTags(tags);
  if (onMismatch !== undefined) {
    assertOneOf(onMismatch, "onMismatch", ["fail", "ignore"]);
  }
  assertTimeout(timeoutMs, "timeoutMs");
  return {
    creation: { name, userIsolation, itemTtlSeconds, description: options.description, tags: { ...tags } },
    asked: { userIsolation: options.userIsolation, itemTtlSeconds: options.itemTtlSeconds, onMismatch },
    timeoutMs,
    onDiagnostic,
    opening: {
      operation: "getOrCreate",
      callId: currentCallId(),
      signal,
      timeoutMs,
      endsAt: performance.now() + timeoutMs,
    },
  };
}
