import type { StateStore } from "@agentfw/core";
import { all, endings, ensure, expectCode, expectError, fail, present, same } from "../expect.ts";
import { show } from "../show.ts";
import { expectAbsent, expectItem, expectKeys, type StateClause, value } from "./support.ts";

/** Etags, and writes that depend on them. */
export const conditionClauses: readonly StateClause[] = [
  {
    id: "S11",
    title: "create is a conflict that carries the current etag when the key is taken, and changes nothing",
    contract: "StateStore",
    reason: "A lock or a checkpoint that is created twice is held by two.",
    async run(trial) {
      const { store } = await trial.open();
      const { etag } = await store.create("a", value(1));
      const error = await expectCode(store.create("a", value(2)), "create of a key that is taken", "conflict");
      same(error.currentVersion, etag, "currentVersion of the conflict");
      await expectItem(store, "a", value(1), "the item after the conflict");
      await store.delete("a");
      await store.create("a", value(3));
      await expectItem(store, "a", value(3), "an item that was created after a delete");
    },
  },
  {
    id: "S12",
    title: "of 40 creates at once exactly one wins, and its text is stored",
    contract: "StateStore",
    reason: "A look and a write in two steps lets several through.",
    async run(trial) {
      const { store } = await trial.open();
      await expectOneCreates([store]);
    },
  },
  {
    id: "S13",
    title: "of 40 creates at once through two stores exactly one wins",
    contract: "StateStore",
    reason: "The winner must be decided where the data is.",
    requires: { hooks: ["another"] },
    async run(trial) {
      const opened = await trial.open();
      await expectOneCreates([opened.store, await present(opened.another?.(), "another()")]);
    },
  },
  {
    id: "S14",
    title: "every write gives a new etag, also of the same text, also after a delete",
    contract: "StateStore",
    reason: "Whoever compares etags must notice every write, and never mistake a new item for an old one.",
    async run(trial) {
      const { store } = await trial.open();
      const seen = new Set<string>();
      const expectNew = (etag: string) => {
        ensure(!seen.has(etag), "an etag is new with every write to the key", etag);
        seen.add(etag);
      };
      for (let life = 0; life < 3; life += 1) {
        expectNew((await store.create("a", value(1))).etag);
        expectNew((await store.set("a", value(1))).etag);
        const { etag } = await store.set("a", value(1));
        expectNew(etag);
        same((await store.get("a"))?.etag, etag, "the etag that get gives");
        same((await store.listKeys()).keys[0]?.etag, etag, "the etag that listKeys gives");
        await store.delete("a");
      }
    },
  },
  {
    id: "S15",
    title: "set with the current etag writes; with any other it is a conflict that carries the current one",
    contract: "StateStore",
    reason: "An update that was made from an old state must not replace a newer one.",
    async run(trial) {
      const { store } = await trial.open();
      const first = await store.create("a", value(1));
      const second = await store.set("a", value(2), { ifMatch: first.etag });
      await expectItem(store, "a", value(2), "the item after a write under its etag");
      for (const ifMatch of [first.etag, "no such etag", ""]) {
        const error = await expectCode(store.set("a", value(3), { ifMatch }), `ifMatch ${show(ifMatch)}`, "conflict");
        same(error.currentVersion, second.etag, "currentVersion of the conflict");
      }
      const item = await expectItem(store, "a", value(2), "the item after the conflicts");
      same(item.etag, second.etag, "the etag after the conflicts");
    },
  },
  {
    id: "S16",
    title: "a condition on an item that is not there is a conflict without an etag, and creates nothing",
    contract: "StateStore",
    reason: "An update must not bring back what someone else deleted.",
    async run(trial) {
      const { store } = await trial.open();
      const { etag } = await store.create("deleted", value(1));
      await store.delete("deleted");
      for (const [key, ifMatch] of [
        ["unknown", "*"],
        ["unknown", etag],
        ["deleted", etag],
        ["deleted", "*"],
      ] as const) {
        const error = await expectCode(store.set(key, value(2), { ifMatch }), `ifMatch on ${key}`, "conflict");
        same(error.currentVersion, undefined, "currentVersion where there is no item");
        await expectAbsent(store, key, "an item that a refused write did not create");
      }
      await expectKeys(store, [], "the keys after refused writes");
    },
  },
  {
    id: "S17",
    title: 'ifMatch "*" writes over any existing item',
    contract: "StateStore",
    reason: "Some updates care only that the item is still wanted.",
    async run(trial) {
      const { store } = await trial.open();
      await store.create("a", value(1));
      await store.set("a", value(2), { ifMatch: "*" });
      const { etag } = await store.set("a", value(3), { ifMatch: "*" });
      const item = await expectItem(store, "a", value(3), "the item");
      same(item.etag, etag, "the etag");
    },
  },
  {
    id: "S18",
    title: "of 20 writes at once under one etag exactly one wins",
    contract: "StateStore",
    reason: "Compare-and-set in two steps is not compare-and-set.",
    async run(trial) {
      const { store } = await trial.open();
      await expectOneSets([store]);
    },
  },
  {
    id: "S19",
    title: "of 20 writes at once under one etag through two stores exactly one wins",
    contract: "StateStore",
    reason: "The comparison must be made where the data is.",
    requires: { hooks: ["another"] },
    async run(trial) {
      const opened = await trial.open();
      await expectOneSets([opened.store, await present(opened.another?.(), "another()")]);
    },
  },
  {
    id: "S20",
    title: "ten callers that read, change and write under the etag lose no update",
    contract: "StateStore",
    reason: "This loop is what sessions, counters and queues are built on.",
    async run(trial) {
      const { store } = await trial.open();
      await store.create("counter", JSON.stringify({ count: 0 }));
      await all(Array.from({ length: 10 }, () => increment(store)));
      await expectItem(store, "counter", JSON.stringify({ count: 10 }), "the counter after ten increments");
    },
  },
  {
    id: "S21",
    title: "delete with an etag deletes only that version",
    contract: "StateStore",
    reason: "A cleanup must not delete what was written after it looked.",
    async run(trial) {
      const { store } = await trial.open();
      const first = await store.create("a", value(1));
      const { etag } = await store.set("a", value(2));
      const error = await expectCode(
        store.delete("a", { ifMatch: first.etag }),
        "delete of an old version",
        "conflict",
      );
      same(error.currentVersion, etag, "currentVersion of the conflict");
      await expectItem(store, "a", value(2), "the item after the conflict");
      same(await store.delete("a", { ifMatch: etag }), true, "delete of the current version");
      await expectAbsent(store, "a", "the deleted item");
      // Services differ here: nothing is deleted either way, which is what counts.
      const [again] = await endings([store.delete("a", { ifMatch: etag })]);
      if (again?.error === undefined) {
        same(again?.value, false, "a conditional delete of nothing, unless it rejects");
      } else {
        expectError(again.error, "a conditional delete of nothing, unless it is false", "conflict");
      }
    },
  },
];

async function expectOneCreates(stores: readonly StateStore[]): Promise<void> {
  const ended = await endings(
    Array.from({ length: 40 }, (_, index) =>
      present(stores[index % stores.length], "a store").create("a", value(index)),
    ),
  );
  const winner = expectOneWon(ended, "create");
  for (const store of stores) {
    await expectItem(store, "a", value(winner), "the item of the winner");
  }
}

async function expectOneSets(stores: readonly StateStore[]): Promise<void> {
  const { etag } = await present(stores[0], "a store").create("a", value("start"));
  const ended = await endings(
    Array.from({ length: 20 }, (_, index) =>
      present(stores[index % stores.length], "a store").set("a", value(index), { ifMatch: etag }),
    ),
  );
  const winner = expectOneWon(ended, "set");
  for (const store of stores) {
    await expectItem(store, "a", value(winner), "the item of the winner");
  }
}

/** The index of the one call that did not end in a conflict. */
function expectOneWon(ended: readonly { readonly error?: unknown }[], what: string): number {
  for (const { error } of ended) {
    if (error !== undefined) {
      expectError(error, `every ${what} but one`, "conflict");
    }
  }
  same(ended.filter(({ error }) => error === undefined).length, 1, `the number of calls of ${what} that won`);
  return ended.findIndex(({ error }) => error === undefined);
}

async function increment(store: StateStore): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const item = present(await store.get("counter"), "the counter");
    const count = Number(/\d+/.exec(item.text)?.[0]);
    const [ended] = await endings([store.set("counter", JSON.stringify({ count: count + 1 }), { ifMatch: item.etag })]);
    if (ended?.error === undefined) {
      return;
    }
    expectError(ended.error, "a lost race", "conflict");
  }
  fail("one of ten callers must win each time, so 200 tries are enough");
}
