import { configurationError, isPlainObject, toJson } from "@agentfw/core";

/** @throws `configuration` naming the field. */
export function assertOneOf(value: unknown, allowed: readonly unknown[], field: string): void {
  if (value !== undefined && !allowed.includes(value)) {
    throw configurationError(field, `must be ${allowed.map(String).join(" or ")}`);
  }
}

/** @throws `configuration` for what is no object or holds an option that has its place elsewhere. */
export function assertDefaultOptions(value: unknown, elsewhere: readonly string[]): void {
  if (value === undefined) {
    return;
  }
  if (!isPlainObject(value)) {
    throw configurationError("defaultOptions", "must be an object");
  }
  for (const name of elsewhere) {
    if (value[name] !== undefined) {
      throw configurationError(`defaultOptions.${name}`, "must be given with the call or the client, not here");
    }
  }
  toJson(value, "defaultOptions");
}
