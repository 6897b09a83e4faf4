import type { HistoryKeyInfo, HistoryListFilter, HistoryListOptions } from "@agentfw/core";
import { expect, test } from "vitest";
import type { BlobHistoryStore } from "../src/index.ts";
import { conversation, records, rejection } from "./support/conversation.ts";
import { openContainer, openProxied, openStore } from "./support/storage.ts";

/** All pages. */
async function listAll(
  store: BlobHistoryStore,
  filter: HistoryListFilter,
  options: HistoryListOptions = {},
): Promise<HistoryKeyInfo[]> {
  const items: HistoryKeyInfo[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list(filter, { ...options, cursor });
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return items;
}

test("a conversation of many segments is listed once, whatever the page, with the time of its newest turn", async () => {
  const container = await openContainer();
  const store = openStore(container, { segmentBlocks: 2 });
  const before = Date.now() - 60_000;
  for (const session of ["a", "b", "c"]) {
    for (let turn = 0; turn < 7; turn += 1) {
      await store.append(conversation(session), records(`turn-${turn}`, 1));
    }
  }
  for (const limit of [1, 2, 3, 100]) {
    const items = await listAll(store, { owner: "owner-1" }, { limit });
    expect(items.map(({ key }) => key.session)).toEqual(["a", "b", "c"]);
    expect(items.every(({ updatedAt }) => Date.parse(updatedAt ?? "") > before)).toBe(true);
  }
});

test("a call among many blobs that are not asked for comes back with how far it got", async () => {
  const { proxy, store } = await openProxied({ segmentBlocks: 2 });
  for (let turn = 0; turn < 60; turn += 1) {
    await store.append(conversation("long", { owner: "a" }), records(`turn-${turn}`, 1));
  }
  await store.append(conversation("wanted", { owner: "b", source: "audit" }), records("a", 1));
  proxy.reset();
  const page = await store.list({ allOwners: true, source: "audit" }, { limit: 1 });
  expect(page.items).toEqual([]);
  expect(page.cursor).toBeDefined();
  expect(proxy.requests).toHaveLength(20);
  const items = await listAll(store, { allOwners: true, source: "audit" }, { limit: 1 });
  expect(items.map(({ key }) => key.session)).toEqual(["wanted"]);
});

test("a cursor of another owner, source or prefix is refused, and not answered with what comes after it", async () => {
  const container = await openContainer();
  const store = openStore(container);
  for (const owner of ["a", "b", "c"]) {
    for (const session of ["1", "2"]) {
      await store.append(conversation(session, { owner }), records("a", 1));
    }
  }
  const { cursor } = await store.list({ owner: "b" }, { limit: 1 });
  const refused = [
    store.list({ owner: "a" }, { cursor }),
    store.list({ owner: "c" }, { cursor }),
    store.list({ owner: null }, { cursor }),
    store.list({ owner: "b", source: "audit" }, { cursor }),
    openStore(container, { prefix: "other" }).list({ owner: "b" }, { cursor }),
  ];
  for (const call of refused) {
    const error = await rejection(call);
    expect(error.code).toBe("configuration");
    expect(error.message).toMatch(/^cursor: /);
  }
  expect((await store.list({ owner: "b" }, { cursor })).items.map(({ key }) => key.session)).toEqual(["2"]);
});
