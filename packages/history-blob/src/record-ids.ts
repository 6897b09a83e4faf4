import type { HistoryRecord } from "@agentfw/core";
import { assertByteLength } from "@agentfw/core/backend";

/** Refuses ids of more than so many bytes as UTF-8. For records that `assertHistoryRecords` let pass. @throws `too_large` */
export function assertIdLengths(records: readonly HistoryRecord[], maxIdBytes: number): void {
  for (const [index, { id }] of records.entries()) {
    // No UTF-8 text is longer than three bytes a unit, so most ids need no name for an error.
    if (id.length * 3 > maxIdBytes) {
      assertByteLength(id, `records[${index}].id`, maxIdBytes);
    }
  }
}
