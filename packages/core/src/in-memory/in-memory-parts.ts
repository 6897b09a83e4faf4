import { AgentFrameworkError, configurationError } from "../errors.ts";
import type { Scope } from "../ports/state-types.ts";
import { assertCallOptions, assertOwner } from "../store-input.ts";

/** Largest value that the in-memory stores take, in UTF-8 bytes. */
export const MAX_BYTES: number = 64 * 1024 * 1024;

/** What each owner has; nobody's things are apart from everybody's. */
export class Partitions<T> {
  readonly #owners = new Map<string | null, Map<string, T>>();

  /** The things of one owner. @throws the abort reason; `configuration` for an owner that is none. */
  of(scope: Scope): Map<string, T> {
    assertCallOptions(scope);
    const { owner = null } = scope;
    assertOwner(owner, "owner");
    const existing = this.#owners.get(owner) ?? new Map<string, T>();
    this.#owners.set(owner, existing);
    return existing;
  }
}

/** An idle life in milliseconds. @throws `configuration` */
export function idleMs(ttlSeconds: number | undefined): number {
  if (ttlSeconds !== undefined && !(Number.isFinite(ttlSeconds) && ttlSeconds > 0)) {
    throw configurationError("ttlSeconds", "must be a number above 0");
  }
  return (ttlSeconds ?? Number.POSITIVE_INFINITY) * 1000;
}

/** A conflict with what is there. */
export function conflict(message: string, currentVersion?: string): AgentFrameworkError {
  return new AgentFrameworkError("conflict", message, { provider: "in-memory", currentVersion });
}
