import type { HistoryKey, HistoryKeyInfo, HistoryList, Tags } from "@agentfw/core";
import { stateError } from "../errors.ts";
import type { FoundryStateStore } from "../foundry-state-store.ts";
import { jsonObject } from "../json-object.ts";
import { LIMITS } from "../limits.ts";
import { Chain } from "./chain.ts";
import { encodeListCursor } from "./cursors.ts";
import { placeOf } from "./names.ts";
import { inParallel } from "./parallel.ts";

/** Which page of conversations. Checked. */
export interface ListPage {
  /** What their heads carry. */
  readonly tags: Tags;
  readonly limit: number;
  /** The state store's own cursor. */
  readonly after: string | undefined;
}

/** A page of conversations: their heads are listed by their tags, and each is asked for its name and for a turn. */
export async function list(
  store: FoundryStateStore,
  { tags, limit, after }: ListPage,
  signal: AbortSignal,
): Promise<HistoryList> {
  const page = await store.listItemKeys({
    tags,
    limit: Math.min(limit, LIMITS.pageSize),
    order: "asc",
    after,
    signal,
  });
  const items = await inParallel(page.keys, ({ key }) => infoOf(store, key, signal));
  return {
    items: items.filter((item) => item !== undefined),
    ...(page.hasMore && page.lastId !== undefined ? { cursor: encodeListCursor(page.lastId) } : {}),
  };
}

async function infoOf(
  store: FoundryStateStore,
  headKey: string,
  signal: AbortSignal | undefined,
): Promise<HistoryKeyInfo | undefined> {
  const item = await store.get(headKey, { signal });
  if (item === undefined) {
    // Cleared since it was listed.
    return undefined;
  }
  const head = headOf(item.text);
  if (head === undefined || placeOf(head.key).headKey !== headKey) {
    throw stateError("corrupt", "list: the head of a conversation cannot be read", { position: headKey });
  }
  const chain = new Chain(store, placeOf(head.key), { signal });
  const { newest, updatedAt } = (await chain.listed())(head.life);
  // A first append that died left a head without a turn, which is no conversation yet.
  const isThere = newest > 0 || (await chain.turn(head.life, 1)) !== undefined;
  return isThere ? { key: head.key, updatedAt } : undefined;
}

function headOf(text: string): { readonly key: HistoryKey; readonly life: string } | undefined {
  const { key, life } = jsonObject(text) ?? {};
  const [owner, source, session] = Array.isArray(key) ? key : [];
  const isOwner = owner === null || typeof owner === "string";
  return isOwner && typeof source === "string" && typeof session === "string" && typeof life === "string"
    ? { key: { owner, source, session }, life }
    : undefined;
}
