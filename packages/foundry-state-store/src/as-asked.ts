import { configurationError, type DiagnosticHandler, report } from "@agentfw/core";
import { PROVIDER } from "./errors.ts";
import type { StoreCreationOptions } from "./options.ts";
import type { StateStoreProperties } from "./types.ts";

/**
 * The service silently ignores options for a store that exists. A store that was to keep users apart and does not would
 * show everyone everything, so that fails unless it is told not to.
 *
 * @throws `configuration`
 */
export function assertAsAsked(
  properties: StateStoreProperties,
  {
    userIsolation,
    itemTtlSeconds,
    onMismatch,
  }: Pick<StoreCreationOptions, "userIsolation" | "itemTtlSeconds" | "onMismatch">,
  onDiagnostic: DiagnosticHandler | undefined,
): void {
  if (onMismatch === "ignore") {
    return;
  }
  if (userIsolation !== undefined && userIsolation !== properties.userIsolation) {
    throw configurationError("userIsolation", `the store exists, and was created with ${properties.userIsolation}`);
  }
  if (itemTtlSeconds !== undefined && itemTtlSeconds !== properties.itemTtlSeconds) {
    const message = `the store exists, and was created with ${properties.itemTtlSeconds}`;
    if (onMismatch === "fail") {
      throw configurationError("itemTtlSeconds", message);
    }
    report(onDiagnostic, { type: "store_differs", provider: PROVIDER, message: `itemTtlSeconds: ${message}` });
  }
}
