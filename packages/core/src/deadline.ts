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

/**
 * Runs `operation` and settles within the deadline whatever it does; its late outcome is ignored.
 *
 * @throws the abort reason when `signal` was aborted before the start (the operation is then not called);
 * `timeout` for a read and `outcome_unknown` for a write whose deadline passed; after an abort in flight the abort
 * reason for a read, `outcome_unknown` with the abort as `cause` for a write.
 */
export function withDeadline<T>(name: string, options: DeadlineOptions, operation: () => Promise<T>): Promise<T> {
  const { signal, timeoutMs, provider, kind } = options;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isSettled = false;
    const settle = () => {
      isSettled = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const late = (cause?: unknown) => {
      settle();
      const isAbort = cause !== undefined;
      const code = kind === "write" ? "outcome_unknown" : "timeout";
      const message = isAbort ? "aborted before the answer came" : `no answer within ${timeoutMs} ms`;
      reject(
        isAbort && kind === "read" ? cause : new AgentFrameworkError(code, `${name}: ${message}`, { provider, cause }),
      );
    };
    const onAbort = () => late(signal?.reason ?? new DOMException("The operation was aborted", "AbortError"));
    signal?.addEventListener("abort", onAbort, { once: true });
    const answer = async () => {
      try {
        resolve(await operation());
      } catch (error) {
        reject(error);
      }
      settle();
    };
    void answer();
    // An answer that is there already is heard before this, and needs no timer.
    void Promise.resolve().then(() => {
      timer = isSettled ? undefined : setTimeout(late, timeoutMs);
    });
  });
}

/** Refuses a timeout that is not a positive number of milliseconds that timers can hold. */
export function assertTimeout(value: unknown, field: string): asserts value is number {
  if (typeof value !== "number" || !(value > 0) || value > 2_147_483_647) {
    throw configurationError(field, "must be milliseconds from above 0 to 2147483647");
  }
}
