/**
 * The closed list of error codes.
 *
 * - `configuration`: the caller passed something that can never work; the message names the field and the rule.
 * - `unavailable`: the backend cannot be reached or refuses work for now. Nothing was written.
 * - `timeout`: the deadline passed. Nothing was written.
 * - `conflict`: someone else came first, or the thing to create is already there.
 * - `corrupt`: stored data cannot be read. It was left as it is.
 * - `too_large`: above a declared limit. Nothing was written.
 * - `unsupported`: the backend does not have this capability, or the data comes from a newer version.
 * - `unauthorized`: the owner or the credentials do not fit.
 * - `not_found`: the thing that was named does not exist.
 * - `outcome_unknown`: a write was sent and its answer was lost. Safe to repeat, because ids make it idempotent.
 */
export type ErrorCode =
  | "configuration"
  | "unavailable"
  | "timeout"
  | "conflict"
  | "corrupt"
  | "too_large"
  | "unsupported"
  | "unauthorized"
  | "not_found"
  | "outcome_unknown";

const RETRYABLE: ReadonlySet<string> = new Set(["unavailable", "timeout", "conflict", "outcome_unknown"]);

/** What an {@link AgentFrameworkError} can carry beside its code and message. */
export interface AgentFrameworkErrorOptions {
  /** The package or provider that noticed, for example `history-file`. */
  readonly provider?: string | undefined;
  /** The driver's or caller's own error. It may hold details that a log must not show to end users. */
  readonly cause?: unknown;
  /** With `conflict`: the version or etag that is current now, when there is one. */
  readonly currentVersion?: string | undefined;
  /** With `corrupt`: where in the stored data, in the backend's own terms. */
  readonly position?: string | undefined;
  /** When the model had already answered: its response, so that it is not lost. */
  readonly response?: unknown;
}

/**
 * The one error class of the framework. Tell errors apart by `code`, never by message text.
 *
 * Messages hold no message text, owners, tokens, or URLs with credentials; `cause` carries the detail.
 * Use {@link isAgentFrameworkError} rather than `instanceof`: it also holds when two copies of core are installed.
 */
export class AgentFrameworkError extends Error {
  readonly "~agentfw/error": true = true;
  readonly code: ErrorCode;
  readonly provider: string | undefined;
  readonly currentVersion: string | undefined;
  readonly position: string | undefined;
  readonly response: unknown;

  constructor(code: ErrorCode, message: string, options: AgentFrameworkErrorOptions = {}) {
    super(options.provider === undefined ? message : `[${options.provider}] ${message}`, options);
    this.name = "AgentFrameworkError";
    this.code = code;
    this.provider = options.provider;
    this.currentVersion = options.currentVersion;
    this.position = options.position;
    this.response = options.response;
  }

  /** True when the same call may succeed later without a change by the caller. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }
}

/**
 * True for an error of this framework, whichever installed copy of core made it.
 *
 * @param code When given, the error must have this code too.
 */
export function isAgentFrameworkError(value: unknown, code?: ErrorCode): value is AgentFrameworkError {
  return (
    typeof value === "object" &&
    value !== null &&
    "~agentfw/error" in value &&
    value["~agentfw/error"] === true &&
    (code === undefined || ("code" in value && value.code === code))
  );
}

/** A `configuration` error: `field` names what was passed, `rule` what it must be. */
export function configurationError(field: string, rule: string, cause?: unknown): AgentFrameworkError {
  return new AgentFrameworkError("configuration", `${field}: ${rule}`, cause === undefined ? {} : { cause });
}

/** True for the error that an `AbortSignal` or the platform raises on abort. */
export function isAbortError(value: unknown): boolean {
  return typeof value === "object" && value !== null && "name" in value && value.name === "AbortError";
}
