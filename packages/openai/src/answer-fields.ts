import { isPlainObject, type UsageDetails } from "@agentfw/core";
import { brokenAnswer } from "./errors.ts";

/** An object of an answer, not checked further. */
export type Fields = Record<string, unknown>;

/** @throws `unavailable` saying `otherwise` for what is no object. */
export function fields(value: unknown, otherwise: string): Fields {
  if (!isPlainObject(value)) {
    throw brokenAnswer(otherwise);
  }
  return value;
}

/** As {@link fields}, for what may be left out. */
export function optionalFields(value: unknown, otherwise: string): Fields | undefined {
  return value === undefined || value === null ? undefined : fields(value, otherwise);
}

/** A text that says something. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A list, empty when it is left out. @throws `unavailable` saying `otherwise` for what is no list. */
export function list(value: unknown, otherwise: string): readonly unknown[] {
  const entries = value ?? [];
  if (!Array.isArray(entries)) {
    throw brokenAnswer(otherwise);
  }
  return entries;
}

/** The time that the service names in seconds. */
export function isoTime(seconds: unknown): string | undefined {
  const time = typeof seconds === "number" ? new Date(seconds * 1000) : undefined;
  return time === undefined || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Those of the counts that are there; `undefined` when none is. */
export function usageDetails(counts: readonly (readonly [keyof UsageDetails, unknown])[]): UsageDetails | undefined {
  const details: { -readonly [Name in keyof UsageDetails]: number } = {};
  for (const [name, count] of counts) {
    if (typeof count === "number") {
      details[name] = count;
    }
  }
  return Object.keys(details).length === 0 ? undefined : details;
}
