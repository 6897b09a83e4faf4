import {
  AgentFrameworkError,
  assertHistoryRecords,
  assertName,
  configurationError,
  type HistoryRecord,
  utf8Length,
} from "@agentfw/core";
import { PROVIDER } from "./provider.ts";
import { isSurelyJson } from "./sure-json.ts";

/** More than this in one script would keep a server from answering anybody else for too long. */
const MAX_RECORDS = 100_000;
const MAX_BYTES = 256 * 1024 * 1024;

/** Most turns have no more records than these, among which a repeated id is found soonest by comparing each with each. */
const FEW = 8;

/**
 * Refuses records that must not be stored, and more in one call than one script may hold.
 *
 * @throws `configuration`, `too_large`
 */
export function assertRecords(records: readonly HistoryRecord[], maxRecordBytes: number): void {
  if (!isSurelyRight(records, maxRecordBytes)) {
    assertHistoryRecords(records, maxRecordBytes);
    assertCallSize(records);
  }
}

/** True for the records of a turn when nothing can be wrong with them. False says nothing. */
function isSurelyRight(records: readonly HistoryRecord[], maxRecordBytes: number): boolean {
  if (!Array.isArray(records) || records.length > FEW) {
    return false;
  }
  const mostUnits = Math.min(maxRecordBytes, MAX_BYTES / FEW) / 3;
  for (let index = 0; index < records.length; index += 1) {
    const record: unknown = records[index];
    if (typeof record !== "object" || record === null || !("id" in record && "data" in record)) {
      return false;
    }
    const { id, data } = record;
    if (typeof id !== "string" || id === "" || typeof data !== "string" || id.length + data.length > mostUnits) {
      return false;
    }
    for (let before = 0; before < index; before += 1) {
      if (records[before]?.id === id) {
        return false;
      }
    }
    if (!isSurelyJson(data)) {
      return false;
    }
  }
  return true;
}

/** Refuses more in one call than one script may hold. The records have been checked. */
function assertCallSize(records: readonly HistoryRecord[]): void {
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
