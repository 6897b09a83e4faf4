import type { PipelineResponse, RestError, RetryStrategy } from "@azure/core-rest-pipeline";
import { stateOf } from "./call-state.ts";

/** System errors that come before anything was sent. */
const NOT_SENT: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "EPROTO",
]);

/** Errors of the TLS handshake, which comes before the request. */
const HANDSHAKE = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

const READ_AGAIN: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 10_000;

/** How often a request is tried again. */
export interface RetrySettings {
  readonly maxRetries: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

/** Fills in what is usual. */
export function retrySettings(options: {
  readonly maxRetries?: number | undefined;
  readonly retryDelayInMs?: number | undefined;
  readonly maxRetryDelayInMs?: number | undefined;
}): RetrySettings {
  const { maxRetries = 3, retryDelayInMs = FIRST_DELAY_MS, maxRetryDelayInMs = LONGEST_DELAY_MS } = options;
  return { maxRetries, firstDelayMs: retryDelayInMs, longestDelayMs: maxRetryDelayInMs };
}

/** True when the connection was not even made. */
export function isNotSent(code: string | undefined): boolean {
  return code !== undefined && (NOT_SENT.has(code) || HANDSHAKE.test(code));
}

/**
 * True for an answer that says that nothing was done: too many requests, or unavailable with the time to come back. Any
 * other failure of a server may have come after the write.
 */
export function isUnprocessed(response: Pick<PipelineResponse, "status" | "headers">): boolean {
  return response.status === 429 || (response.status === 503 && retryAfterMs(response) !== undefined);
}

/**
 * Tries reads again when they failed, and writes only when nothing was done: a write whose answer was lost and that is
 * sent again may overwrite somebody, or be told of a conflict with itself. Never later than the call's deadline.
 */
export function safeRetryStrategy(settings: RetrySettings): RetryStrategy {
  return {
    name: "safeRetry",
    retry({ retryCount, response, responseError }) {
      const state = stateOf(response?.request ?? responseError?.request);
      state.problem = responseError ?? state.problem;
      const isUndone = isNotSent(responseError?.code) || (response !== undefined && isUnprocessed(response));
      if (isUndone) {
        state.mayHaveRun = false;
      }
      const delay = (response && retryAfterMs(response)) ?? delayMs(retryCount, settings);
      const isInTime = performance.now() + delay < state.endsAt;
      const isSafe = isUndone || (state.kind === "read" && mayReadAgain(response, responseError));
      return isSafe && isInTime ? { retryAfterInMs: delay } : { skipStrategy: true };
    },
  };
}

function mayReadAgain(response: PipelineResponse | undefined, error: RestError | undefined): boolean {
  return response === undefined ? error !== undefined : READ_AGAIN.has(response.status);
}

/** Longer each time, and never quite the same, so that many clients do not come back at once. */
function delayMs(retryCount: number, { firstDelayMs, longestDelayMs }: RetrySettings): number {
  const longest = Math.min(firstDelayMs * 2 ** retryCount, longestDelayMs);
  return longest * (0.75 + Math.random() / 4);
}

/** How long the service asks to wait. */
function retryAfterMs({ headers }: Pick<PipelineResponse, "headers">): number | undefined {
  for (const name of ["retry-after-ms", "x-ms-retry-after-ms"]) {
    const text = headers.get(name);
    if (text !== undefined && /^\d{1,9}$/.test(text)) {
      return Number(text);
    }
  }
  const text = headers.get("retry-after");
  if (text === undefined) {
    return undefined;
  }
  if (/^\d{1,6}$/.test(text)) {
    return Number(text) * 1_000;
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
