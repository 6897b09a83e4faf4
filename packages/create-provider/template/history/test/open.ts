import type { HookReasons, OpenedHistoryStore, OpenOptions } from "@agentfw/provider-testing";
import { __class__ } from "../src/index.ts";

/** What the store is called in reports. */
export const name = "__package__";

/** Why a hook is missing below, by its name: `{ breakBackend: "the data lives in the process" }`. */
export const cannot: HookReasons = {};

/**
 * Opens a store that sees nothing another call wrote: a schema, prefix or folder of its own. Offer as many hooks as you
 * can beside the store; the kit's README lists them, and what each of them covers. For an engine behind TCP or HTTP,
 * `startFaultProxy` and `faultHooks` of `@agentfw/provider-testing/faults` give those that break something.
 */
export async function openHistoryStore(options: OpenOptions = {}): Promise<OpenedHistoryStore> {
  return {
    store: new __class__({ ...options }),
    another: async () => new __class__({ ...options }),
  };
}
