import { assertHistoryRecords, type HistoryRecord } from "@agentfw/core";
import { assertCallSize, assertIfVersion, type CallSize } from "@agentfw/core/backend";
import { isSurelyJson } from "./sure-json.ts";

/** More than this in one script would keep a server from answering anybody else for too long. */
const MOST: CallSize = { maxRecords: 100_000, maxBytes: 256 * 1024 * 1024 };

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
    assertCallSize(records, MOST);
  }
}

/** True for the records of a turn when nothing can be wrong with them. False says nothing. */
function isSurelyRight(records: readonly HistoryRecord[], maxRecordBytes: number): boolean {
  if (!Array.isArray(records) || records.length > FEW) {
    return false;
  }
  const mostUnits = Math.min(maxRecordBytes, MOST.maxBytes / FEW) / 3;
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

/** The condition as the scripts take it: `*` is none. @throws `configuration` for a version that is no text. */
export function conditionOf(ifVersion: unknown): string {
  assertIfVersion(ifVersion);
  return ifVersion === undefined ? "*" : `=${ifVersion}`;
}
