import type { HistoryKeyInfo, HistoryListFilter } from "@agentfw/core";
import type { FoundryStateStore } from "../foundry-state-store.ts";
import { inParallel } from "../in-parallel.ts";
import { LIMITS } from "../limits.ts";
import type { Progress } from "../progress.ts";
import { Chain, readHead } from "./chain.ts";
import { headTags, placeOf } from "./names.ts";

/** Which page of conversations. Checked. */
export interface ListPage {
  readonly filter: HistoryListFilter;
  readonly limit: number;
  /** The state store's own cursor. */
  readonly after: string | undefined;
}

/** A page of conversations, with the state store's cursor for the next one. */
export interface ListedPage {
  readonly items: HistoryKeyInfo[];
  readonly next: string | undefined;
}

/** A page of conversations: their heads are listed by their tags, and each is asked for its name and for a turn. */
export async function list(
  store: FoundryStateStore,
  { filter, limit, after }: ListPage,
  progress: Progress,
): Promise<ListedPage> {
  const page = await store.listItemKeys({
    tags: headTags(filter),
    limit: Math.min(limit, LIMITS.pageSize),
    order: "asc",
    after,
    signal: progress.signal,
  });
  const items = await inParallel(page.keys, ({ key }) => infoOf(store, key, progress));
  return { items: items.filter((item) => item !== undefined), next: page.hasMore ? page.lastId : undefined };
}

async function infoOf(
  store: FoundryStateStore,
  headKey: string,
  progress: Progress,
): Promise<HistoryKeyInfo | undefined> {
  const head = await readHead(store, headKey, progress);
  if (head === undefined) {
    // Cleared since it was listed.
    return undefined;
  }
  const chain = new Chain(store, placeOf(head.key), progress);
  const [newest] = (await chain.newestTurns())(head.life);
  // A first append that died left a head without a turn, which is no conversation yet.
  const isThere = newest !== undefined || (await chain.turn(head.life, 1)) !== undefined;
  return isThere ? { key: head.key, updatedAt: newest?.updatedAt } : undefined;
}
