import { configurationError } from "@agentfw/core";
import type { FoundryStateStore } from "./foundry-state-store.ts";
import { NEVER_EXPIRES } from "./limits.ts";

/** Refuses what is no store, or one whose items expire. `what` would vanish with them. @throws `configuration` */
export function assertLasting(store: FoundryStateStore, what: string): void {
  // Not instanceof: two copies of this package may be installed.
  if (typeof store?.iterateItemKeys !== "function") {
    throw configurationError("store", "must be a FoundryStateStore");
  }
  if (store.properties.itemTtlSeconds !== NEVER_EXPIRES) {
    throw configurationError("store", `must have been created with itemTtlSeconds: -1, or ${what} would vanish`);
  }
}
