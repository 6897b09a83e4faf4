import type { ContextProvider, RunContext } from "@agentfw/core";
import { notWritten } from "./errors.ts";
import { type __class__Options, resolveOptions } from "./options.ts";

/**
 * Context from __name__. One instance serves all sessions at once and keeps nothing about any of them in itself: that
 * belongs in `session.state`, under the source id (`ProviderSessionState` of core), or in a store.
 */
export class __class__ implements ContextProvider {
  readonly sourceId: string;

  /** @throws `configuration` naming the option and the rule. */
  constructor(options: __class__Options = {}) {
    this.sourceId = resolveOptions(options).sourceId;
  }

  /** Adds messages, instructions or tools before the first model call. What it throws ends the run. */
  beforeRun(_context: RunContext): Promise<void> {
    return notWritten("beforeRun");
  }

  /** Learns from the run: `context.response` after success, `context.error` after a failure. */
  afterRun(_context: RunContext): Promise<void> {
    return notWritten("afterRun");
  }
}
