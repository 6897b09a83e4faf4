import type {
  AppendOptions,
  CallOptions,
  HistoryCapabilities,
  HistoryKey,
  HistoryList,
  HistoryListFilter,
  HistoryListOptions,
  HistoryPage,
  HistoryRecord,
  ReadOptions,
} from "./history-types.ts";

/**
 * Where conversations live. A backend implements this port; everything about messages is written once, above it.
 *
 * Any number of callers may use one store at the same time. A backend that cannot be reached rejects: a failure is
 * never an empty answer.
 */
export interface HistoryStore {
  readonly contractVersion: 1;
  readonly capabilities: HistoryCapabilities;

  /**
   * Adds records at the end: all or nothing, contiguous, in append order. A record whose id is stored is skipped, so a
   * repeated append succeeds with `appended: 0`.
   *
   * @throws `configuration`, `too_large`, `conflict` (with `ifVersion`), `unavailable`, `timeout`: nothing was written;
   * `outcome_unknown` for a write whose answer was lost; `corrupt` when what is stored cannot be added to.
   */
  append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options?: AppendOptions,
  ): Promise<{ readonly version: string; readonly appended: number }>;

  /**
   * Reads a page at the cost of the page, whatever is stored. An unknown key gives no records and version `""`.
   *
   * @throws `corrupt` naming the position; `conflict` for a cursor to what is no longer stored; `unavailable`, `timeout`.
   */
  read(key: HistoryKey, options?: ReadOptions): Promise<HistoryPage>;

  /** Removes exactly this conversation, at one point in time. Succeeds on an unknown key. @throws as `append` does */
  clear(key: HistoryKey, options?: CallOptions): Promise<void>;

  /**
   * Swaps the stored run `fromId` through `throughId` for `records`, atomically; a concurrent append is kept.
   * `conflict` when either id is no longer stored, `configuration` when a new record has the id of one outside of the
   * run. The ids that were replaced stay remembered.
   */
  replace?(
    key: HistoryKey,
    range: { readonly fromId: string; readonly throughId: string },
    records: readonly HistoryRecord[],
    options?: AppendOptions,
  ): Promise<{ readonly version: string }>;

  /** Pages over conversations, each once, never an expired one. */
  list?(filter: HistoryListFilter, options?: HistoryListOptions): Promise<HistoryList>;

  /**
   * Releases what the store opened itself; a client that was passed in stays open. Calls that were made before end as they
   * would have, where there is time for it. A later call rejects with `configuration` and does nothing; only `close` itself
   * can be called again.
   */
  close?(): Promise<void>;
}
