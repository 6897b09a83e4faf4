import type {
  HistoryKey,
  HistoryListFilter,
  HistoryListOptions,
  HistoryRecord,
  ReadOptions,
} from "../ports/history-types.ts";
import {
  assertCallOptions,
  assertCount,
  assertHistoryKey,
  assertHistoryRecords,
  assertListFilter,
  assertName,
  assertReadOptions,
} from "../store-input.ts";

/**
 * What callers pass to a history store, refused or copied. Whoever waits before the work begins, for a queue or for an engine,
 * works on copies: the caller may change its own objects meanwhile.
 */

/** A key as it is now. @throws `configuration` naming the part */
export function ownHistoryKey(key: HistoryKey): HistoryKey {
  assertHistoryKey(key);
  const { owner, source, session } = key;
  return { owner, source, session };
}

/** Records as they are now. @throws `configuration`, `too_large` */
export function ownHistoryRecords(records: readonly HistoryRecord[], maxRecordBytes: number): readonly HistoryRecord[] {
  assertHistoryRecords(records, maxRecordBytes);
  return records.map(({ id, data }) => ({ id, data }));
}

/** The options of a read as they are now. @throws `configuration`, the reason of an abort */
export function ownReadOptions(options: ReadOptions): ReadOptions {
  assertReadOptions(options);
  const { last, before, withFirst, onCorrupt, signal } = options;
  return { last, before, withFirst, onCorrupt, signal };
}

/** A filter of a listing as it is now, also where it inherits what it says. @throws `configuration` naming the part */
export function ownListFilter(filter: HistoryListFilter): HistoryListFilter {
  assertListFilter(filter);
  const { source } = filter;
  return "owner" in filter ? { owner: filter.owner, source } : { allOwners: true, source };
}

/** The options of a listing as they are now, 100 conversations where they name no limit. @throws `configuration`, the reason of an abort */
export function ownListOptions(options: HistoryListOptions): HistoryListOptions & { readonly limit: number } {
  assertCallOptions(options);
  const { limit = 100, cursor, signal } = options;
  assertCount(limit, "limit", 1);
  if (cursor !== undefined) {
    assertName(cursor, "cursor");
  }
  return { limit, cursor, signal };
}
