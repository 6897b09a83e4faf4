import { AgentFrameworkError, configurationError } from "./errors.ts";

/** Options of {@link withDeadline}. */
export interface DeadlineOptions {
  /** The call settles within this many milliseconds. */
  readonly timeoutMs: number;
  /** The caller's signal. */
  readonly signal?: AbortSignal | undefined;
  /** A write whose answer is lost is `outcome_unknown`; a read is `timeout`, or the abort itself. */
  readonly kind: "read" | "write";
  /** Named in the error. */
  readonly provider?: string | undefined;
}

/** The reason of an aborted signal as an error to throw. */
export function abortReason(signal: AbortSignal): unknown {
  return signal.reason ?? new DOMException("The operation was aborted", "AbortError");
}

/**
 * Runs `operation` and settles within the deadline whatever it does. It gets a signal that fires on abort and at the
 * deadline; its late outcome is ignored.
 *
 * @throws the abort reason when `signal` was aborted before the start (the operation is then not called);
 * `timeout` for a read and `outcome_unknown` for a write whose deadline passed; after an abort in flight the abort
 * reason for a read, `outcome_unknown` with the abort as `cause` for a write.
 */
export async function withDeadline<T>(
  name: string,
  options: DeadlineOptions,
  operation: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, timeoutMs, provider, kind } = options;
  if (signal?.aborted) {
    throw abortReason(signal);
  }
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort: (() => void) | undefined;
  const interrupted = new Promise<never>((_, reject) => {
    const interrupt = (code: "timeout" | "outcome_unknown", message: string, cause?: unknown) => {
      const error = new AgentFrameworkError(code, message, { provider, cause });
      reject(error);
      controller.abort(cause ?? error);
    };
    timer = setTimeout(
      () => interrupt(kind === "read" ? "timeout" : "outcome_unknown", `${name}: no answer within ${timeoutMs} ms`),
      timeoutMs,
    );
    onAbort = () => {
      const reason = signal === undefined ? undefined : abortReason(signal);
      if (kind === "read") {
        reject(reason);
        controller.abort(reason);
      } else {
        interrupt("outcome_unknown", `${name}: aborted before the answer came`, reason);
      }
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([operation(controller.signal), interrupted]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) {
      signal?.removeEventListener("abort", onAbort);
    }
  }
}

/** Refuses a timeout that is not a positive number of milliseconds that timers can hold. */
export function assertTimeout(value: unknown, field: string): asserts value is number {
  if (typeof value !== "number" || !(value > 0) || value > 2_147_483_647) {
    throw configurationError(field, "must be a number of milliseconds above 0 and at most 2,147,483,647");
  }
}
