import { AgentFrameworkError, type ErrorCode, isAgentFrameworkError } from "@agentfw/core";
import { connectionFailure, systemCode } from "@agentfw/core/backend";
import { PROVIDER } from "./errors.ts";

/** What the service's answer means for what the store does next. */
export type Verdict =
  /** Someone else changed the blob. */
  | "condition"
  /** What is to be made is there. */
  | "exists"
  | "no-blob"
  | "no-container"
  /** The range begins behind the end. */
  | "no-range"
  /** The blob takes no further block. */
  | "full"
  /** It may go better in a moment; nothing was done. */
  | "busy"
  /** It may go better in a moment; what was asked for may have been done. */
  | "lost"
  /** It goes wrong in the same way again. */
  | "refused";

interface Meaning {
  readonly verdict: Verdict;
  readonly code: ErrorCode;
  readonly reason: string;
}

/** The service's error codes. Those that are not here go by their status. */
const CODES: ReadonlyMap<string, Meaning> = new Map(
  Object.entries({
    ConditionNotMet: meaning("condition", "conflict", "another writer came first"),
    AppendPositionConditionNotMet: meaning("condition", "conflict", "another writer came first"),
    TargetConditionNotMet: meaning("condition", "conflict", "another writer came first"),
    MaxBlobSizeConditionNotMet: meaning("full", "unavailable", "the blob is full"),
    BlockCountExceedsLimit: meaning("full", "unavailable", "the blob is full"),
    BlobAlreadyExists: meaning("exists", "conflict", "the blob exists"),
    UnauthorizedBlobOverwrite: meaning("exists", "conflict", "the blob exists"),
    ContainerAlreadyExists: meaning("exists", "conflict", "the container exists"),
    BlobNotFound: meaning("no-blob", "unavailable", "the blob is not there"),
    ContainerNotFound: meaning("no-container", "configuration", "container: it is not there"),
    InvalidRange: meaning("no-range", "unavailable", "the blob is shorter than it was"),
    InvalidBlobType: meaning("refused", "corrupt", "a blob of another type stands under the name"),
    IncorrectBlobType: meaning("refused", "corrupt", "a blob of another type stands under the name"),
    ContainerBeingDeleted: meaning("busy", "unavailable", "the container is being deleted"),
    ContainerDisabled: meaning("refused", "unauthorized", "the container is disabled"),
    AccountBeingCreated: meaning("busy", "unavailable", "the account is being made"),
    AccountIsDisabled: meaning("refused", "unauthorized", "the account is disabled"),
    ServerBusy: meaning("busy", "unavailable", "the service is busy"),
    OperationTimedOut: meaning("lost", "unavailable", "the service took too long"),
    InternalError: meaning("lost", "unavailable", "the service failed"),
    OutOfRangeInput: meaning("refused", "configuration", "the service does not take a name or a value"),
    InvalidResourceName: meaning("refused", "configuration", "container: the service does not take its name"),
    InvalidHeaderValue: meaning("refused", "configuration", "the service does not take a header; it may be too old"),
    InvalidMetadata: meaning("refused", "configuration", "the service does not take the names"),
    MetadataTooLarge: meaning("refused", "too_large", "the names are too long"),
    RequestBodyTooLarge: meaning("refused", "too_large", "the service takes no block of this size"),
    FeatureVersionMismatch: meaning("refused", "unsupported", "the blob was changed by a newer version of the service"),
    LeaseIdMissing: meaning("refused", "unavailable", "someone holds a lease on the blob"),
    LeaseLost: meaning("refused", "unavailable", "someone held a lease on the blob"),
    BlobIsSealed: meaning("refused", "unavailable", "the blob was made read-only"),
    BlobArchived: meaning("refused", "unavailable", "the blob is archived"),
    BlobImmutableDueToPolicy: meaning("refused", "unauthorized", "a policy of the container forbids it"),
    BlobAccessTierNotSupportedForAccountType: meaning("refused", "unsupported", "the account has no append blobs"),
    HnsOnPathNotSupported: meaning("refused", "unsupported", "the account has no append blobs"),
  }),
);

/** Errors of credentials, which are told by their names. */
const NO_TOKEN = /Authentication|CredentialUnavailable|AggregateAuthentication/;

/** Tells what happened from what the driver threw. */
export function verdictOf(error: unknown): Verdict {
  return meaningOf(error).verdict;
}

/**
 * Turns what the driver threw into the error that callers see, with the driver's own as its `cause`. Errors of the
 * framework pass through as they are.
 */
export function toFrameworkError(error: unknown, operation: string): AgentFrameworkError {
  if (isAgentFrameworkError(error)) {
    return error;
  }
  const { code, reason } = meaningOf(error);
  const position = code === "corrupt" ? { position: "the blob as a whole" } : {};
  return new AgentFrameworkError(code, `${operation}: ${reason}`, { provider: PROVIDER, cause: error, ...position });
}

/** A download that ended before its end, or was not of what was asked for; callers see it as a `cause`. */
export class IncompleteDownload extends Error {
  constructor() {
    super("the download is not what was asked for, or ended before all of it was there");
    this.name = "IncompleteDownload";
  }
}

/** An answer that lacks what the service always says, so that it may be none of the service's. */
export class IncompleteAnswer extends Error {
  constructor() {
    super("the answer has no ETag");
    this.name = "IncompleteAnswer";
  }
}

/** How long the service asks to be left alone, in milliseconds; 0 where it says nothing. */
export function retryAfterMs(error: unknown): number {
  const headers = property(property(error, "response"), "headers");
  const get = property(headers, "get");
  const text: unknown = typeof get === "function" ? Reflect.apply(get, headers, ["retry-after"]) : undefined;
  if (typeof text !== "string") {
    return 0;
  }
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : 0;
}

function meaningOf(error: unknown): Meaning {
  const coded = codedOf(error);
  const code = systemCode(coded) ?? "";
  const known = CODES.get(code);
  if (known !== undefined) {
    return known;
  }
  const status = statusOf(error);
  if (status === undefined) {
    return meaningOfFailure(error, coded);
  }
  const { reason, ...rest } = meaningOfStatus(status);
  // A word of the service, of which there are some hundred, or of a proxy: nothing else is told.
  return { ...rest, reason: `${reason} (${status}${/^[A-Za-z]{1,60}$/.test(code) ? ` ${code}` : ""})` };
}

function meaningOfStatus(status: number): Meaning {
  if (status === 401 || status === 403) {
    return meaning("refused", "unauthorized", "the service refused the key, the token or its rights");
  }
  if (status === 412) {
    return meaning("condition", "conflict", "another writer came first");
  }
  if (status === 429 || status === 503) {
    return meaning("busy", "unavailable", "the service is busy");
  }
  if (status === 408 || status >= 500) {
    return meaning("lost", "unavailable", "the service failed");
  }
  if (status < 300) {
    return meaning("lost", "unavailable", "the answer is none that the service gives");
  }
  if (status === 400) {
    return meaning("refused", "configuration", "the service does not take the request");
  }
  // A 404 that does not say what is missing is no empty conversation: a proxy may have given it.
  return meaning("refused", "unavailable", "the service refused");
}

function meaningOfFailure(error: unknown, coded: unknown): Meaning {
  const failure = connectionFailure(coded);
  if (failure !== undefined) {
    return meaning(failure.code === "unavailable" ? "busy" : "refused", failure.code, failure.reason);
  }
  if (error instanceof Error && NO_TOKEN.test(error.name)) {
    return meaning("refused", "unauthorized", "credential: it gave no token");
  }
  const reason = systemCode(coded) === undefined ? "the driver failed" : "the connection ended";
  return meaning(isAgentFrameworkError(error) ? "refused" : "lost", "unavailable", reason);
}

function meaning(verdict: Verdict, code: ErrorCode, reason: string): Meaning {
  return { verdict, code, reason };
}

/** The error, or the cause of it, that has a code: the service's own, or the driver's in the same place. */
function codedOf(error: unknown): unknown {
  const cause = property(error, "cause");
  return systemCode(error) === undefined && cause !== undefined ? codedOf(cause) : error;
}

function statusOf(error: unknown): number | undefined {
  const status = property(error, "statusCode");
  return typeof status === "number" ? status : undefined;
}

function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
