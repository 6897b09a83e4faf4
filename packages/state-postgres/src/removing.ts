import { assertObject, type CallOptions, configurationError } from "@agentfw/core";

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
  /** How many items one statement deletes at most. @default 100 */
  readonly batchSize?: number | undefined;
}

/** Refuses a filter that does not name an owner. @throws `configuration` */
export function checkedOwner(filter: EraseFilter): string | null {
  assertObject(filter, "filter");
  const { owner } = filter;
  if (owner !== null && typeof owner !== "string") {
    throw configurationError("filter.owner", "must be a string, or null for nobody's");
  }
  return owner;
}

/** Repeats a batch until there is nothing left for it. */
export async function removeInBatches(batch: () => Promise<RemovedItems>): Promise<RemovedItems> {
  let items = 0;
  for (;;) {
    const removed = await batch();
    if (removed.items === 0) {
      return { items };
    }
    items += removed.items;
  }
}
