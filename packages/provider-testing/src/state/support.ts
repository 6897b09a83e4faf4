import type { StateItem, StateKey, StateListOptions, StateStore } from "@agentfw/core";
import type { ContractClause, Trial } from "../clause.ts";
import { ensure, present, same, sameList } from "../expect.ts";
import type { OpenedStateStore } from "../opened.ts";
import { show } from "../show.ts";

/** A clause of the contract of StateStore. */
export type StateClause = ContractClause<OpenedStateStore>;

/** What a clause on StateStore works with. */
export type StateTrial = Trial<OpenedStateStore>;

/** A small JSON object. */
export function value(of: string | number): string {
  return JSON.stringify({ value: of });
}

/** Fails unless the item is there with this text, and gives it. */
export async function expectItem(
  store: StateStore,
  key: string,
  text: string,
  guarantee: string,
  options: { readonly owner?: string | null } = {},
): Promise<StateItem> {
  const item = present(await store.get(key, options), guarantee);
  same(item.key, key, `${guarantee} (key)`);
  same(item.text, text, `${guarantee} (text)`);
  ensure(typeof item.etag === "string" && item.etag !== "", `${guarantee}: it has an etag`, item.etag);
  return item;
}

/** Fails unless the key reads as absent. */
export async function expectAbsent(store: StateStore, key: string, guarantee: string): Promise<void> {
  const item = await store.get(key);
  ensure(item === undefined, `${guarantee}: it must read as undefined`, item);
}

/** All pages of a listing, checked against the limit. */
export async function listAll(
  store: StateStore,
  options: StateListOptions = {},
  betweenPages?: () => Promise<void>,
): Promise<StateKey[]> {
  const keys: StateKey[] = [];
  let cursor: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const page = await store.listKeys({ ...options, cursor });
    const limit = options.limit ?? 100;
    ensure(page.keys.length <= limit, `a page holds at most ${limit} keys`, page.keys.length);
    keys.push(...page.keys);
    cursor = page.cursor;
    if (cursor === undefined) {
      return keys;
    }
    ensure(pages < 1_000, "the pages of a listing must come to an end");
    await betweenPages?.();
  }
}

/** Fails unless these are exactly the keys that are listed, in any order. */
export async function expectKeys(
  store: StateStore,
  expected: readonly string[],
  guarantee: string,
  options: StateListOptions = {},
): Promise<void> {
  const found = (await listAll(store, options)).map(({ key }) => key);
  sameList([...found].sort(), [...expected].sort(), guarantee);
}

/** Fails unless the tags are exactly these. */
export function sameTags(actual: Readonly<Record<string, string>>, expected: object, guarantee: string): void {
  const sorted = (tags: object) => show(Object.entries(tags).sort(([left], [right]) => (left < right ? -1 : 1)));
  same(sorted(actual), sorted(expected), guarantee);
}
