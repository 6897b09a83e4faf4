import { assertTimeout } from "@agentfw/core";
import { assertOptions } from "@agentfw/core/backend";

/** Options of `__class__`. */
export interface __class__Options {
  /** Every call settles within this many milliseconds. @default 5,000 */
  readonly timeoutMs?: number | undefined;
}

/** The options with defaults in place. */
export interface Settings {
  readonly timeoutMs: number;
}

const KNOWN: readonly string[] = ["timeoutMs"];

/**
 * Checks the options and fills in defaults. An option that is not known is refused: whoever sets it relies on it.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function resolveOptions(options: __class__Options): Settings {
  assertOptions(options, "options", KNOWN);
  const { timeoutMs = 5_000 } = options;
  assertTimeout(timeoutMs, "timeoutMs");
  return { timeoutMs };
}
