import type { CallOptions } from "@agentfw/core";
import { BATCH_RECORDS } from "./write-functions.ts";

/** More than this would take longer than any deadline. */
export const MAX_BATCH_SIZE = 100_000;

/** What `erase` and `deleteExpired` deleted. */
export interface RemovedConversations {
  readonly conversations: number;
  /** Records, those that `replace` left as remembered ids included. */
  readonly records: number;
}

/** Whose conversations `erase` deletes. */
export interface EraseFilter {
  /** `null`: the unowned ones. */
  readonly owner: string | null;
}

/** Options of `deleteExpired`. */
export interface DeleteExpiredOptions extends CallOptions {
  /**
   * How many conversations one statement deletes at most, 1 to 100,000. It deletes fewer where they have more than 100,000
   * records. @default 100
   */
  readonly batchSize?: number | undefined;
}

/** Repeats a batch until one is not full. Not until one is empty: others may go on writing what it deletes. */
export async function removeInBatches(
  batchSize: number,
  batch: () => Promise<RemovedConversations>,
): Promise<RemovedConversations> {
  let [conversations, records] = [0, 0];
  for (;;) {
    const removed = await batch();
    conversations += removed.conversations;
    records += removed.records;
    if (removed.conversations < batchSize && removed.records < BATCH_RECORDS) {
      return { conversations, records };
    }
  }
}
