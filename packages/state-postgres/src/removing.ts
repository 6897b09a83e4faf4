import type { CallOptions } from "@agentfw/core";

/** More than this would take longer than any deadline. */
export const MAX_BATCH_SIZE = 100_000;

/** What `erase` and `deleteExpired` deleted. */
export interface RemovedItems {
  readonly items: number;
}

/** Whose items `erase` deletes. */
export interface EraseFilter {
  /** `null`: the unowned ones. */
  readonly owner: string | null;
}

/** Options of `deleteExpired`. */
export interface DeleteExpiredOptions extends CallOptions {
  /** How many items one statement deletes at most, 1 to 100,000. @default 100 */
  readonly batchSize?: number | undefined;
}

/** Repeats a batch until one is not full. Not until one is empty: others may go on writing what it deletes. */
export async function removeInBatches(batchSize: number, batch: () => Promise<RemovedItems>): Promise<RemovedItems> {
  let items = 0;
  for (;;) {
    const removed = await batch();
    items += removed.items;
    if (removed.items < batchSize) {
      return { items };
    }
  }
}
