import { assertName, assertTimeout, configurationError } from "@agentfw/core";
import { assertOptions } from "@agentfw/core/backend";

/** Options of `__class__`. */
export interface __class__Options {
  /** Where the service is: `https://` or `http://`. */
  readonly url: string;
  /** The model that answers when a call names none. */
  readonly model: string;
  /** An answer is complete within this many milliseconds. @default 60,000 */
  readonly timeoutMs?: number | undefined;
}

/** The options with defaults in place. */
export interface Settings {
  readonly url: string;
  readonly model: string;
  readonly timeoutMs: number;
}

const KNOWN: readonly string[] = ["url", "model", "timeoutMs"];

/**
 * Checks the options and fills in defaults. An option that is not known is refused: whoever sets it relies on it.
 *
 * @throws `configuration` naming the option and the rule, without the address, which may hold a password.
 */
export function resolveOptions(options: __class__Options): Settings {
  assertOptions(options, "options", KNOWN);
  const { url, model, timeoutMs = 60_000 } = options;
  assertName(model, "model");
  if (typeof url !== "string" || !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    throw configurationError("url", "must be an address with https:// or http://");
  }
  assertTimeout(timeoutMs, "timeoutMs");
  return { url, model, timeoutMs };
}
