import { AssertionError } from "node:assert";
import { type AgentFrameworkError, type ErrorCode, isAbortError, isAgentFrameworkError } from "@agentfw/core";

/** Fails the clause unless `holds`. `guarantee` says what must be, `instead` what was seen. */
export function ensure(holds: boolean, guarantee: string, instead?: unknown): asserts holds {
  if (!holds) {
    fail(instead === undefined ? guarantee : `${guarantee}; got ${show(instead)}`);
  }
}

/** Fails the clause. */
export function fail(message: string): never {
  throw failure(message);
}

/** What a failed clause rejects with. */
export function failure(message: string): AssertionError {
  return new AssertionError({ message });
}

/** Fails the clause unless both are the same primitive value. */
export function same<T extends string | number | boolean | null | undefined>(
  actual: T,
  expected: T,
  guarantee: string,
): void {
  if (actual !== expected) {
    const message = `${guarantee}: expected ${show(expected)}, got ${show(actual)}`;
    throw new AssertionError({ message, actual, expected, operator: "strictEqual" });
  }
}

/** Fails the clause unless both lists hold the same texts in the same order; names the first difference. */
export function sameList(actual: readonly string[], expected: readonly string[], guarantee: string): void {
  const length = Math.max(actual.length, expected.length);
  for (let index = 0; index < length; index += 1) {
    if (actual[index] !== expected[index]) {
      const message =
        `${guarantee}: expected ${expected.length} items and got ${actual.length}; ` +
        `the first difference is at ${index}: expected ${show(expected[index])}, got ${show(actual[index])}`;
      throw new AssertionError({ message });
    }
  }
}

/** Fails the clause unless the call rejects with an error of the framework that has one of these codes. */
export async function expectCode(
  call: Promise<unknown>,
  guarantee: string,
  ...codes: readonly ErrorCode[]
): Promise<AgentFrameworkError> {
  const error = await expectRejection(call, `${guarantee}: must reject with ${codes.join(" or ")}`);
  if (isAgentFrameworkError(error) && codes.includes(error.code)) {
    return error;
  }
  return fail(`${guarantee}: must reject with ${codes.join(" or ")}; rejected with ${show(error)}`);
}

/** Fails the clause unless the call rejects with the AbortError. */
export async function expectAbort(call: Promise<unknown>, guarantee: string): Promise<void> {
  const error = await expectRejection(call, `${guarantee}: must reject with the AbortError`);
  ensure(isAbortError(error), `${guarantee}: must reject with the AbortError`, error);
}

/**
 * What a call gave whose reply was lost: its result, or nothing when it rejected with `outcome_unknown`. Any other
 * rejection fails the clause: it says that nothing was done, or that somebody else did it.
 */
export async function resolvedOrUnknown<T>(call: Promise<T>, guarantee: string): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    ensure(
      isAgentFrameworkError(error, "outcome_unknown"),
      `${guarantee}: must succeed, or reject with outcome_unknown`,
      error,
    );
    return undefined;
  }
}

/** What a call gave whose request was lost: its result, or nothing when it rejected with an error to be retried. */
export async function resolvedOrRetryable<T>(call: Promise<T>, guarantee: string): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const isRetryable = isAgentFrameworkError(error) && error.code !== "conflict" && error.retryable;
    ensure(isRetryable, `${guarantee}: must succeed, or reject with an error that can be retried`, error);
    return undefined;
  }
}

async function expectRejection(call: Promise<unknown>, guarantee: string): Promise<unknown> {
  let value: unknown;
  try {
    value = await call;
  } catch (error) {
    return error;
  }
  return fail(`${guarantee}; it resolved with ${show(value)}`);
}

/** Waits for every call, whether others fail or not, then gives all results or the first error. */
export async function all<T>(calls: Iterable<Promise<T>>): Promise<T[]> {
  const results = await Promise.allSettled(calls);
  return results.map((result) => {
    if (result.status === "rejected") {
      throw result.reason;
    }
    return result.value;
  });
}

/** How one of many calls ended. */
export interface Ending<T> {
  readonly value?: T;
  readonly error?: unknown;
}

/** Waits for every call and gives how each ended. */
export async function endings<T>(calls: Iterable<Promise<T>>): Promise<Ending<T>[]> {
  const results = await Promise.allSettled(calls);
  return results.map((result) => (result.status === "fulfilled" ? { value: result.value } : { error: result.reason }));
}

/** The value, or a failed clause when there is none. */
export function present<T>(value: T | undefined | null, guarantee: string): T {
  if (value === undefined || value === null) {
    return fail(`${guarantee}: it is missing`);
  }
  return value;
}

/** A value in a message: short, on one line. */
export function show(value: unknown): string {
  const text = describe(value);
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}

function describe(value: unknown): string {
  if (isAgentFrameworkError(value)) {
    return `${value.code} (${value.message})`;
  }
  if (value instanceof Error) {
    return `${value.name}: ${value.message}`;
  }
  return JSON.stringify(value) ?? String(value);
}
