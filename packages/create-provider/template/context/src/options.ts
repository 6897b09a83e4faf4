import { assertName } from "@agentfw/core";
import { assertOptions } from "@agentfw/core/backend";

/** Options of `__class__`. */
export interface __class__Options {
  /** Names the provider's state in a session and stamps what it adds. One agent has no two alike. @default "__provider__" */
  readonly sourceId?: string | undefined;
}

/** The options with defaults in place. */
export interface Settings {
  readonly sourceId: string;
}

const KNOWN: readonly string[] = ["sourceId"];

/**
 * Checks the options and fills in defaults. An option that is not known is refused: whoever sets it relies on it.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function resolveOptions(options: __class__Options): Settings {
  assertOptions(options, "options", KNOWN);
  const { sourceId = "__provider__" } = options;
  assertName(sourceId, "sourceId");
  return { sourceId };
}
