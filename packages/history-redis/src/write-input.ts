import { AgentFrameworkError, assertName, configurationError, type HistoryRecord, utf8Length } from "@agentfw/core";
import { PROVIDER } from "./errors.ts";

/** More than this in one script would keep a server from answering anybody else for too long. */
const MAX_RECORDS = 100_000;
const MAX_BYTES = 256 * 1024 * 1024;

/** Refuses more in one call than one script may hold. The records have been checked. @throws `too_large` */
export function assertCallSize(records: readonly HistoryRecord[]): void {
  if (records.length > MAX_RECORDS) {
    throw tooLarge(`more than ${MAX_RECORDS} in one call`);
  }
  const units = records.reduce((sum, { id, data }) => sum + id.length + data.length, 0);
  // No UTF-8 text is longer than three bytes a unit, so most calls need no exact count.
  if (units * 3 > MAX_BYTES) {
    const bytes = records.reduce((sum, { id, data }) => sum + utf8Length(id) + utf8Length(data), 0);
    if (bytes > MAX_BYTES) {
      throw tooLarge(`above ${MAX_BYTES} bytes in one call`);
    }
  }
}

/** The condition as the scripts take it: `*` is none. @throws `configuration` for a version that is no text. */
export function conditionOf(ifVersion: unknown): string {
  if (ifVersion === undefined) {
    return "*";
  }
  if (typeof ifVersion !== "string") {
    throw configurationError("ifVersion", "must be a version that the store gave, or the empty text");
  }
  return `=${ifVersion}`;
}

/** The ends of a run of records. @throws `configuration` */
export function checkedRange(range: { readonly fromId: string; readonly throughId: string }): {
  fromId: string;
  throughId: string;
} {
  if (typeof range !== "object" || range === null) {
    throw configurationError("range", "must name fromId and throughId");
  }
  const { fromId, throughId } = range;
  assertName(fromId, "range.fromId");
  assertName(throughId, "range.throughId");
  return { fromId, throughId };
}

function tooLarge(rule: string): AgentFrameworkError {
  return new AgentFrameworkError("too_large", `records: ${rule}`, { provider: PROVIDER });
}
