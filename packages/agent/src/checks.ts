import { configurationError, isPlainObject } from "@agentfw/core";

/** Refuses anything but an array. */
export function assertList(value: unknown, field: string): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) {
    throw configurationError(field, "must be an array");
  }
}

/** Refuses a member that is there and of another type. */
export function assertOptional(value: unknown, type: "boolean" | "function" | "string", field: string): void {
  if (value !== undefined && typeof value !== type) {
    throw configurationError(field, `must be a ${type}`);
  }
}

/** Refuses anything but one of the texts that are allowed. */
export function assertOneOf(value: unknown, allowed: readonly string[], field: string): void {
  if (!allowed.some((entry) => entry === value)) {
    throw configurationError(field, `must be one of ${allowed.map((entry) => `"${entry}"`).join(", ")}`);
  }
}

/** Refuses options of model calls that a run would stumble over; what only the service reads is the service's to judge. */
export function assertChatOptions(options: unknown, field: string): void {
  if (options === undefined) {
    return;
  }
  if (!isPlainObject(options)) {
    throw configurationError(field, "must be an object");
  }
  assertOptional(options["instructions"], "string", `${field}.instructions`);
  assertOptional(options["store"], "boolean", `${field}.store`);
  const conversationId = options["conversationId"];
  if (conversationId !== undefined && (typeof conversationId !== "string" || conversationId === "")) {
    throw configurationError(`${field}.conversationId`, "must be a non-empty string");
  }
  for (const name of ["metadata", "additionalProperties"]) {
    if (options[name] !== undefined && !isPlainObject(options[name])) {
      throw configurationError(`${field}.${name}`, "must be an object");
    }
  }
}

/** Refuses anything but an `AbortSignal`, of whichever realm. */
export function assertSignal(signal: unknown, field: string): void {
  const isSignal =
    typeof signal === "object" &&
    signal !== null &&
    "aborted" in signal &&
    "addEventListener" in signal &&
    typeof signal.addEventListener === "function";
  if (signal !== undefined && !isSignal) {
    throw configurationError(field, "must be an AbortSignal");
  }
}
