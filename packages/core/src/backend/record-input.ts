import type { HistoryRecord } from "../ports/history-types.ts";
import { assertHistoryRecords } from "../store-input.ts";
import { assertCallSize, type CallSize } from "./history-input.ts";
import { isSurelyJson } from "./sure-json.ts";

/** Most turns have no more records than these, among which a repeated id is found soonest by comparing each with each. */
const FEW = 8;

/**
 * Refuses records that a store must not take, and more than one call may hold: `assertHistoryRecords` and `assertCallSize`,
 * which say what is wrong, behind a quicker look at the records of a turn.
 *
 * @throws `configuration`, `too_large`
 */
export function assertRecords(records: readonly HistoryRecord[], maxRecordBytes: number, most: CallSize): void {
  if (!isSurelyRight(records, maxRecordBytes, most.maxBytes)) {
    assertHistoryRecords(records, maxRecordBytes);
    assertCallSize(records, most);
  }
}

/** True for the records of a turn when nothing can be wrong with them. False says nothing. */
function isSurelyRight(records: readonly HistoryRecord[], maxRecordBytes: number, maxBytes: number): boolean {
  if (!Array.isArray(records) || records.length > FEW) {
    return false;
  }
  const mostUnits = Math.min(maxRecordBytes, maxBytes / FEW) / 3;
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
