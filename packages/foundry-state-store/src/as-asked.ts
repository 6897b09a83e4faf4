import { configurationError, report } from "@agentfw/core";
import { PROVIDER } from "./errors.ts";
import type { CommonSettings } from "./options.ts";
import type { StateStoreProperties } from "./types.ts";

/**
 * The service silently ignores options for a store that exists. A store that was to keep users apart and does not would
 * show everyone everything, so that fails unless it is told not to.
 *
 * @throws `configuration`
 */
export function assertAsAsked(properties: StateStoreProperties, { asked, onDiagnostic }: CommonSettings): void {
  for (const field of ["userIsolation", "itemTtlSeconds"] as const) {
    if (asked.onMismatch === "ignore" || asked[field] === undefined || asked[field] === properties[field]) {
      continue;
    }
    const message = `the store exists, and was created with ${properties[field]}`;
    if (asked.onMismatch === "fail" || field === "userIsolation") {
      throw configurationError(field, message);
    }
    report(onDiagnostic, { type: "store_differs", provider: PROVIDER, message: `${field}: ${message}` });
  }
}
