import { AssertionError } from "node:assert";
import { type AgentFrameworkError, type ErrorCode, isAbortError, isAgentFrameworkError } from "@agentfw/core";
import { difference, isShort, show } from "./show.ts";

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
    const message = `${guarantee}: ${difference(expected, actual)}`;
    // Runners print both once more. Without an operator: with one, later Nodes add lines of their own to the message.
    throw new AssertionError({ message, ...(isShort(actual) && isShort(expected) ? { actual, expected } : {}) });
  }
}

/** Fails the clause unless both lists hold the same texts in the same order; names the first difference. */
export function sameList(actual: readonly string[], expected: readonly string[], guarantee: string): void {
  const length = Math.max(actual.length, expected.length);
  for (let index = 0; index < length; index += 1) {
    if (actual[index] !== expected[index]) {
      const message =
        `${guarantee}: expected ${expected.length} items and got ${actual.length}; ` +
        `the first difference is at ${index}: ${difference(expected[index], actual[index])}`;
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
  return expectError(await rejection(call, guarantee, `must reject with ${codes.join(" or ")}`), guarantee, ...codes);
}

/**
 * Fails the clause unless this is an error of the framework, with one of these codes where any are given. What else was
 * thrown is mostly the driver's own, and the message says what to do about it.
 */
export function expectError(error: unknown, guarantee: string, ...codes: readonly ErrorCode[]): AgentFrameworkError {
  if (!isAgentFrameworkError(error)) {
    const wanted = codes.length === 0 ? "" : ` (${codes.join(" or ")})`;
    return fail(
      `${guarantee}: must reject with an AgentFrameworkError${wanted}; rejected with ${show(error)}: ` +
        "translate what the driver throws; a project of @agentfw/create-provider does it in src/errors.ts",
    );
  }
  if (codes.length > 0 && !codes.includes(error.code)) {
    return fail(`${guarantee}: must reject with ${codes.join(" or ")}; rejected with ${show(error)}`);
  }
  return error;
}

/** Fails the clause unless the call rejects with the AbortError. */
export async function expectAbort(call: Promise<unknown>, guarantee: string): Promise<void> {
  const error = await rejection(call, guarantee, "must reject with the AbortError");
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
    expectError(error, `${guarantee}, unless it succeeds`, "outcome_unknown");
    return undefined;
  }
}

/** What a call gave whose request was lost: its result, or nothing when it rejected with an error to be retried. */
export async function resolvedOrRetryable<T>(call: Promise<T>, guarantee: string): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const { code, retryable } = expectError(error, `${guarantee}, unless it succeeds`);
    ensure(
      code !== "conflict" && retryable,
      `${guarantee}: must succeed, or reject with an error that can be retried`,
      error,
    );
    return undefined;
  }
}

async function rejection(call: Promise<unknown>, guarantee: string, rule: string): Promise<unknown> {
  let value: unknown;
  try {
    value = await call;
  } catch (error) {
    return error;
  }
  return fail(`${guarantee}: ${rule}; it resolved with ${show(value)}`);
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
