import { AgentFrameworkError, configurationError } from "../errors.ts";
import type { HistoryRecord } from "../ports/history-types.ts";
import { assertName, utf8Length } from "../store-input.ts";

/** The most that a store takes in one call. */
export interface CallSize {
  readonly maxRecords: number;
  /** Ids and data of all records together, in UTF-8 bytes. */
  readonly maxBytes: number;
}

/** Refuses more than one call may hold. For records that `assertHistoryRecords` let pass. @throws `too_large` */
export function assertCallSize(records: readonly HistoryRecord[], { maxRecords, maxBytes }: CallSize): void {
  if (records.length > maxRecords) {
    throw new AgentFrameworkError("too_large", `records: more than ${maxRecords} in one call`);
  }
  const units = records.reduce((sum, { id, data }) => sum + id.length + data.length, 0);
  // No UTF-8 text is longer than three bytes a unit, so most calls need no exact count.
  if (units * 3 > maxBytes) {
    const bytes = records.reduce((sum, { id, data }) => sum + utf8Length(id) + utf8Length(data), 0);
    if (bytes > maxBytes) {
      throw new AgentFrameworkError("too_large", `records: above ${maxBytes} bytes in one call`);
    }
  }
}

/** Refuses a condition that no version can meet. @throws `configuration` */
export function assertIfVersion(ifVersion: unknown): asserts ifVersion is string | undefined {
  if (ifVersion !== undefined && typeof ifVersion !== "string") {
    throw configurationError("ifVersion", "must be a version that the store gave, or the empty text");
  }
}

/** The ends of a run of records, as they are now. @throws `configuration` naming the end that is no id */
export function assertRange(range: { readonly fromId: string; readonly throughId: string }): {
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
