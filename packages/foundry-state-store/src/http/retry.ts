import { connectionFailure } from "@agentfw/core/backend";
import type { PipelineResponse, PipelineRetryOptions, RestError, RetryStrategy } from "@azure/core-rest-pipeline";
import { stateOf } from "./call-state.ts";

const READ_AGAIN: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 10_000;

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
export function safeRetryStrategy({
  retryDelayInMs = FIRST_DELAY_MS,
  maxRetryDelayInMs = LONGEST_DELAY_MS,
}: PipelineRetryOptions): RetryStrategy {
  return {
    name: "safeRetry",
    retry({ retryCount, response, responseError }) {
      const state = stateOf(response?.request ?? responseError?.request);
      state.problem = responseError ?? state.problem;
      const failure = responseError && connectionFailure(responseError);
      const isUndone = failure !== undefined || (response !== undefined && isUnprocessed(response));
      if (isUndone) {
        state.mayHaveRun = false;
      }
      const delay = (response && retryAfterMs(response)) ?? delayMs(retryCount, retryDelayInMs, maxRetryDelayInMs);
      const isInTime = performance.now() + delay < state.endsAt;
      const isSafe = isUndone || (state.isRead && mayReadAgain(response, responseError));
      const mayHelp = failure?.code !== "configuration";
      return isSafe && mayHelp && isInTime ? { retryAfterInMs: delay } : { skipStrategy: true };
    },
  };
}

function mayReadAgain(response: PipelineResponse | undefined, error: RestError | undefined): boolean {
  return response === undefined ? error !== undefined : READ_AGAIN.has(response.status);
}

/** Longer each time, and never quite the same, so that many clients do not come back at once. */
function delayMs(retryCount: number, firstDelayMs: number, longestDelayMs: number): number {
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
  // An HTTP date. Date.parse makes a date of nearly anything, "-5" and "1.5" included.
  const date = /^[A-Z][a-z]{2,8},? .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
