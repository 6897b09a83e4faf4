import { type ErrorCode, isAgentFrameworkError } from "@agentfw/core";
import { connectionFailure, retryAfterMs, systemCode } from "@agentfw/core/backend";
import { codedCause } from "./coded-cause.ts";
import type { StepFailure } from "./stepped-call.ts";

type Fate = StepFailure["fate"];

/** What the service's answer means for what the store does next: what became of a request, or why it was not carried out. */
export type Verdict =
  | Fate
  /** Someone else changed the blob. */
  | "condition"
  /** What is to be made is there. */
  | "exists"
  | "no-blob"
  | "no-container"
  /** The range begins behind the end. */
  | "no-range"
  /** The blob takes no further block. */
  | "full";

type Meaning = readonly [fate: Fate, code: ErrorCode, reason: string, verdict?: Verdict | undefined];

/** What answers mean, by their status and the service's error code: the first that fits. An error tells both behind the reason. */
const MEANINGS: readonly (readonly [answer: RegExp, ...meaning: Meaning])[] = [
  [/MaxBlobSizeConditionNotMet|BlockCountExceedsLimit/, "unmet", "unavailable", "the blob is full", "full"],
  [/(?:Blob|Container)AlreadyExists|UnauthorizedBlobOverwrite/, "unmet", "conflict", "it exists", "exists"],
  [/ BlobNotFound/, "unmet", "unavailable", "the blob is not there", "no-blob"],
  [/ContainerNotFound/, "refused", "configuration", "container: it is not there", "no-container"],
  [/InvalidRange/, "unmet", "unavailable", "the blob is shorter than it was", "no-range"],
  [/(?:Invalid|Incorrect)BlobType/, "refused", "corrupt", "a blob of another type stands under the name"],
  [/InvalidResourceName/, "refused", "configuration", "container: the service does not take its name"],
  [/InvalidHeaderValue/, "refused", "configuration", "the service does not take a header; it may be too old"],
  [/TooLarge|^413/, "refused", "too_large", "the service takes nothing of this size"],
  [/NotSupported|VersionMismatch/, "refused", "unsupported", "the account, or this version, does not offer it"],
  [/Lease|Sealed/, "refused", "unavailable", "the blob is leased or read-only"],
  [
    /ImmutableDueToPolicy|ContainerDisabled|^40[13]/,
    "refused",
    "unauthorized",
    "the key, the token or a policy does not allow it",
  ],
  [/Being(?:Deleted|Created)|^429|^503/, "busy", "unavailable", "the service is busy"],
  [/OperationTimedOut|^408|^5/, "lost", "unavailable", "the service failed"],
  [/^2/, "lost", "unavailable", "the answer is none that the service gives"],
  [/^412/, "unmet", "conflict", "another writer came first", "condition"],
  [/^400/, "refused", "configuration", "the service does not take the request"],
  // A 404 that does not say what is missing may be a proxy's, and is no empty conversation.
  [/^\d/, "refused", "unavailable", "the service refused"],
];

/** Errors of credentials, which are told by their names. */
const NO_TOKEN = /Authentication|CredentialUnavailable/;

/** Tells what happened from what the driver threw. */
export function verdictOf(error: unknown): Verdict {
  const [fate, , , verdict = fate] = meaningOf(error);
  return verdict;
}

/** What the driver threw means to a call. */
export function failureOf(error: unknown): StepFailure {
  const [fate, code, reason] = meaningOf(error);
  const position = code === "corrupt" ? "the blob as a whole" : undefined;
  const headers = property(property(error, "response"), "headers");
  const get = property(headers, "get");
  const header: unknown = typeof get === "function" ? Reflect.apply(get, headers, ["retry-after"]) : undefined;
  return { code, reason, position, fate, retryAfterMs: retryAfterMs(header) };
}

/** Takes failures of these kinds for undefined, and throws every other one. */
export function undefinedFor(...verdicts: readonly Verdict[]): (error: unknown) => undefined {
  return (error) => {
    if (!verdicts.includes(verdictOf(error))) {
      throw error;
    }
  };
}

function meaningOf(error: unknown): Meaning {
  const coded = codedCause(error);
  // A word of the service, of which there are some hundred, or of a proxy: nothing else is told.
  const word = /^[A-Za-z]{1,60}$/.exec(systemCode(coded) ?? "")?.[0] ?? "";
  const answer = `${property(error, "statusCode") ?? ""} ${word}`;
  const known = MEANINGS.find(([pattern]) => pattern.test(answer));
  if (known === undefined) {
    return meaningOfFailure(error, coded);
  }
  const [, fate, code, reason, verdict] = known;
  return [fate, code, `${reason} (${answer.trim()})`, verdict];
}

function meaningOfFailure(error: unknown, coded: unknown): Meaning {
  const failed = connectionFailure(coded);
  if (failed !== undefined) {
    return [failed.code === "unavailable" ? "busy" : "refused", failed.code, failed.reason];
  }
  if (error instanceof Error && NO_TOKEN.test(error.name)) {
    return ["refused", "unauthorized", "credential: it gave no token"];
  }
  const reason = systemCode(coded) === undefined ? "the driver failed" : "the connection ended";
  return [isAgentFrameworkError(error) ? "refused" : "lost", "unavailable", reason];
}

function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
