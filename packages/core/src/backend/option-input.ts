import { configurationError } from "../errors.ts";
import { assertCount, assertObject } from "../store-input.ts";

const HUNDRED_YEARS = 3_153_600_000;

/**
 * Refuses options that are no object, that nobody knows, or that are not of the types given. A member that is undefined counts as absent.
 *
 * @param field Names the object itself in errors.
 * @param types What `typeof` must be for members that are there.
 * @throws `configuration` naming the member and the rule.
 */
export function assertOptions(
  value: unknown,
  field: string,
  known: readonly string[],
  types: Readonly<Record<string, "boolean" | "function">> = {},
): asserts value is object {
  assertObject(value, field, types);
  for (const [name, member] of Object.entries(Object(value))) {
    if (member !== undefined && !known.includes(name)) {
      throw configurationError(name, `is none of ${known.join(", ")}`);
    }
  }
}

/** Refuses anything but a whole number from `least` to `most`. @throws `configuration` */
export function assertWithin(value: unknown, field: string, least: number, most: number): asserts value is number {
  assertCount(value, field, least);
  if (value > most) {
    throw configurationError(field, `must be at most ${most}`);
  }
}

/** Refuses anything but an idle life from a millisecond to a hundred years, in seconds, or none. @throws `configuration` */
export function assertTtlSeconds(value: unknown): asserts value is number | undefined {
  if (value !== undefined && !(typeof value === "number" && value >= 0.001 && value <= HUNDRED_YEARS)) {
    throw configurationError("ttlSeconds", `must be a number of seconds from 0.001 to ${HUNDRED_YEARS}`);
  }
}
