import { all, endings, ensure, expectError, same, sameList } from "../expect.ts";
import { show } from "../show.ts";
import { INVENTED_CURSORS } from "../texts.ts";
import { expectKeys, listAll, type StateClause, sameTags, value } from "./support.ts";

/** Keys, and the tags they are found by. */
export const listClauses: readonly StateClause[] = [
  {
    id: "S22",
    title: "a write replaces the tags wholesale, and none when it names none",
    contract: "StateStore",
    reason: "A tag that cannot be removed keeps an item in a list for ever.",
    async run(trial) {
      const { store } = await trial.open();
      await store.create("a", value(1), { tags: { kind: "draft", phase: "one" } });
      await store.set("a", value(2), { tags: { phase: "two" } });
      sameTags((await store.get("a"))?.tags ?? {}, { phase: "two" }, "the tags after a write with others");
      await expectKeys(store, [], "the keys under a tag that was replaced", { tags: { kind: "draft" } });
      await expectKeys(store, ["a"], "the keys under the new tag", { tags: { phase: "two" } });
      await store.set("a", value(3));
      sameTags((await store.get("a"))?.tags ?? {}, {}, "the tags after a write without tags");
      await expectKeys(store, [], "the keys under a tag that was removed", { tags: { phase: "two" } });
    },
  },
  {
    id: "S23",
    title: "a listing by tags gives the keys that carry all of them, whatever the page size",
    contract: "StateStore",
    reason: "A filter that runs after paging gives short pages and misses keys.",
    async run(trial) {
      const { store } = await trial.open();
      const expected: string[] = [];
      for (let index = 0; index < 30; index += 1) {
        const tags = { kind: index % 2 === 0 ? "even" : "odd", third: String(index % 3) };
        await store.set(`item-${index}`, value(index), { tags });
        expected.push(...(index % 6 === 0 ? [`item-${index}`] : []));
      }
      await store.set("untagged", value(0));
      await store.set("partly", value(0), { tags: { kind: "even" } });
      for (const limit of [1, 2, 3, 100]) {
        await expectKeys(store, expected, `keys with both tags in pages of ${limit}`, {
          tags: { kind: "even", third: "0" },
          limit,
        });
      }
      await expectKeys(store, [], "keys with a value that no item has", { tags: { kind: "even", third: "9" } });
      await expectKeys(store, [], "keys with a tag that no item has", { tags: { constructor: "even" } });
    },
  },
  {
    id: "S24",
    title: "pages cover every key once, in one stable order, and backwards in exactly the reverse",
    contract: "StateStore",
    reason: "Items made in the same moment must not be repeated or lost between pages.",
    async run(trial) {
      const { store } = await trial.open();
      const keys = Array.from({ length: 45 }, (_, index) => `item-${(index * 17) % 45}`);
      await all(keys.map((key) => store.set(key, value(key))));
      const order = (await listAll(store)).map(({ key }) => key);
      sameList([...order].sort(), [...keys].sort(), "all keys");
      for (const limit of [1, 7, 44, 45, 46]) {
        const forwards = (await listAll(store, { limit, order: "asc" })).map(({ key }) => key);
        sameList(forwards, order, `the order in pages of ${limit}`);
        const backwards = (await listAll(store, { limit, order: "desc" })).map(({ key }) => key);
        sameList(backwards, [...order].reverse(), `the reverse order in pages of ${limit}`);
      }
    },
  },
  {
    id: "S25",
    title: "keys that exist throughout come exactly once, whatever is written or deleted during paging",
    contract: "StateStore",
    reason: "Offsets shift; a job that walks all keys would skip some.",
    async run(trial) {
      for (const order of ["asc", "desc"] as const) {
        const { store } = await trial.open();
        const keys = Array.from({ length: 24 }, (_, index) => `item-${index}`);
        for (const key of keys) {
          await store.set(key, value(key));
        }
        const deleted = new Set<string>();
        let turn = 0;
        const seen = await listAll(store, { limit: 5, order }, async () => {
          turn += 1;
          const gone = `item-${turn * 5 - 3}`;
          deleted.add(gone);
          await store.delete(gone);
          await store.set(`new-${turn}`, value(turn));
          await store.set("item-0", value(turn));
          await store.set("item-23", value(turn));
        });
        const names = seen.map(({ key }) => key);
        same(new Set(names).size, names.length, `the number of different keys (${order})`);
        const staying = keys.filter((key) => !deleted.has(key));
        sameList(
          names.filter((key) => staying.includes(key)).sort(),
          [...staying].sort(),
          `the keys that were there throughout (${order})`,
        );
      }
    },
  },
  {
    id: "S26",
    title: "a listing gives key, etag and tags as get does",
    contract: "StateStore",
    reason: "A caller that lists and then writes needs the etag of what it saw.",
    async run(trial) {
      const { store } = await trial.open();
      await store.set("a", value(1), { tags: { kind: "draft" } });
      await store.set("b", value(2));
      for (const listed of await listAll(store)) {
        const item = await store.get(listed.key);
        same(listed.etag, item?.etag, `the etag of ${listed.key}`);
        sameTags(listed.tags, item?.tags ?? {}, `the tags of ${listed.key}`);
      }
    },
  },
  {
    id: "S27",
    title: "a listing without a limit gives at most 100 keys a page",
    contract: "StateStore",
    reason: "A store with a million keys must not be sent in one answer.",
    async run(trial) {
      const { store } = await trial.open();
      const keys = Array.from({ length: 130 }, (_, index) => `item-${index}`);
      await all(keys.map((key) => store.set(key, value(key))));
      const page = await store.listKeys();
      same(page.keys.length, 100, "the number of keys on the first page");
      ensure(page.cursor !== undefined, "the first page of 130 keys has a cursor");
      await expectKeys(store, keys, "all pages");
    },
  },
  {
    id: "S48",
    title: "a cursor that the store never gave is refused or leads nowhere, and never to the beginning again",
    contract: "StateStore",
    reason: "Whoever goes on by it works through all that was done already, again and again.",
    upcoming: true,
    async run(trial) {
      const { store } = await trial.open();
      for (const key of ["a", "b", "c"]) {
        await store.set(key, value(key));
      }
      for (const cursor of INVENTED_CURSORS) {
        const guarantee = `listKeys with the cursor ${show(cursor)}`;
        const [ended] = await endings([store.listKeys({ cursor, limit: 2 })]);
        if (ended?.error === undefined) {
          // Services may take it for a place behind everything; what is there is nothing.
          same(ended?.value?.keys.length, 0, `${guarantee}, unless it rejects: the number of keys`);
        } else {
          expectError(ended.error, `${guarantee}, unless it gives nothing`, "configuration", "conflict", "not_found");
        }
      }
    },
  },
];
