import { connectionFailure } from "@agentfw/core/backend";
import type { PipelineResponse, PipelineRetryOptions, RetryStrategy } from "@azure/core-rest-pipeline";
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
      // Longer each time, and never quite the same, so that many clients do not come back at once.
      const usual = Math.min(retryDelayInMs * 2 ** retryCount, maxRetryDelayInMs) * (0.75 + Math.random() / 4);
      const delay = (response && retryAfterMs(response)) ?? usual;
      const isInTime = performance.now() + delay < state.endsAt;
      const isReadable = state.isRead && (response === undefined || READ_AGAIN.has(response.status));
      const mayHelp = (isUndone || isReadable) && failure?.code !== "configuration";
      return mayHelp && isInTime ? { retryAfterInMs: delay } : { skipStrategy: true };
    },
  };
}

/** The headers that tell how long to wait, and in how many milliseconds they count. */
const WAITS = { "retry-after-ms": 1, "x-ms-retry-after-ms": 1, "retry-after": 1_000 };

/** How long the service asks to wait. */
function retryAfterMs({ headers }: Pick<PipelineResponse, "headers">): number | undefined {
  for (const [name, unit] of Object.entries(WAITS)) {
    const text = headers.get(name) ?? "";
    if (/^\d{1,9}$/.test(text)) {
      return Number(text) * unit;
    }
  }
  // An HTTP date. Date.parse makes a date of nearly anything, "-5" and "1.5" included.
  const text = headers.get("retry-after") ?? "";
  const date = /^[A-Z][a-z]{2,8},? .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
