import { AgentFrameworkError, type HistoryRecord, utf8Length } from "@agentfw/core";
import { PROVIDER } from "./errors.ts";

const MAX_RECORDS = 100_000;
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_ID_BYTES = 1024;

/** Refuses what one call cannot hold. The records have been checked one by one. @throws `too_large` */
export function assertCallSize(records: readonly HistoryRecord[]): void {
  if (records.length > MAX_RECORDS) {
    throw tooLarge(`records: more than ${MAX_RECORDS} in one call`);
  }
  const long = records.findIndex(({ id }) => id.length * 3 > MAX_ID_BYTES && utf8Length(id) > MAX_ID_BYTES);
  if (long >= 0) {
    throw tooLarge(`records[${long}].id: above ${MAX_ID_BYTES} bytes`);
  }
  const units = records.reduce((sum, { data }) => sum + data.length, 0);
  // No UTF-8 text is longer than three bytes a unit, so most calls need no exact count.
  if (units * 3 > MAX_BYTES && records.reduce((sum, { data }) => sum + utf8Length(data), 0) > MAX_BYTES) {
    throw tooLarge(`records: above ${MAX_BYTES} bytes in one call`);
  }
}

function tooLarge(message: string): AgentFrameworkError {
  return new AgentFrameworkError("too_large", message, { provider: PROVIDER });
}
