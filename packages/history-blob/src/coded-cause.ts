import { systemCode } from "@agentfw/core/backend";

/**
 * The error, or the first of its causes, that has a `code`: clients wrap what Node or a driver reports, as `fetch` does. The error itself
 * where none has one.
 */
export function codedCause(error: unknown): unknown {
  let coded = error;
  while (systemCode(coded) === undefined && coded instanceof Error && coded.cause !== undefined) {
    coded = coded.cause;
  }
  return systemCode(coded) === undefined ? error : coded;
}
