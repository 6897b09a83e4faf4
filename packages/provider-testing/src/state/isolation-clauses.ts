import type { StateStore } from "@agentfw/core";
import { all, ensure, expectCode, same, sameList } from "../expect.ts";
import { withLifetime } from "../lifetime.ts";
import type { OpenedStateStore } from "../opened.ts";
import { expectAbsent, expectItem, expectKeys, listAll, type StateClause, value } from "./support.ts";

const LONG = "x".repeat(100);

const OWNERS: readonly (string | null)[] = [
  "alice",
  "bob",
  null,
  "",
  "null",
  "Alice",
  "a:b",
  "a",
  "a_b",
  "a/b",
  " alice",
  "é",
  "e\u0301",
  `${LONG}1`,
  `${LONG}2`,
];

/** Whose items they are, and how long they stay. */
export const isolationClauses: readonly StateClause[] = [
  {
    id: "S28",
    title: "owner works where isolation is declared, and is refused where it is not",
    contract: "StateStore; HistoryStore 17",
    reason: "A store that ignores the owner shows everyone everything.",
    async run(trial) {
      const opened = await trial.open();
      if (trial.declares("isolation")) {
        const [alice, bob] = [await viewOf(opened, "alice"), await viewOf(opened, "bob")];
        await alice.set("a", value("alice"));
        same((await bob.get("a"))?.text, undefined, "another owner's item");
        same((await alice.get("a"))?.text, value("alice"), "the owner's item");
        return;
      }
      const { store } = opened;
      await store.set("a", value(1));
      for (const call of [
        () => store.get("a", { owner: "alice" }),
        () => store.set("a", value(2), { owner: "alice" }),
        () => store.create("b", value(2), { owner: "alice" }),
        () => store.delete("a", { owner: "alice" }),
        () => store.listKeys({ owner: "alice" }),
      ]) {
        await expectCode(call(), "a call with an owner, without isolation", "unsupported");
      }
      await expectItem(store, "a", value(1), "after refused calls");
    },
  },
  {
    id: "S29",
    title: "each owner has items of its own under every key: null, empty and look-alike owners too",
    contract: "Identity; StateStore",
    reason: "Reading, writing, deleting and listing must all stay within the owner.",
    requires: { capabilities: ["isolation"] },
    async run(trial) {
      const opened = await trial.open();
      const views = await all(
        OWNERS.map(async (owner) => ({ name: JSON.stringify(owner), view: await viewOf(opened, owner) })),
      );
      for (const { name, view } of views) {
        same((await view.get("a"))?.text, undefined, `what only others have, for ${name}`);
        same(await view.delete("a"), false, `delete of what only others have, by ${name}`);
        await view.create("a", value(name));
        await view.create(`own ${name}`, value(1));
      }
      for (const { name, view } of views) {
        same((await view.get("a"))?.text, value(name), `the item of ${name}`);
        sameList((await view.keys()).sort(), ["a", `own ${name}`].sort(), `the keys of ${name}`);
        await view.set("a", value(`${name} again`));
      }
      for (const [index, { name, view }] of views.entries()) {
        same(
          (await view.get("a"))?.text,
          value(`${name} again`),
          `the item of ${name} after others' writes and deletes`,
        );
        same(await view.delete("a"), true, `delete by ${name}`);
        const next = views[index + 1];
        same(await next?.view.delete(`own ${name}`), next && false, `delete of the item of ${name} by another owner`);
      }
    },
  },
  {
    id: "S30",
    title: "no owner and owner null are the same, unowned items",
    contract: "Identity; StateStore",
    reason: "A caller that leaves the owner out must not get a third kind of owner.",
    requires: { capabilities: ["isolation"] },
    async run(trial) {
      const { store } = await trial.open();
      await store.set("a", value(1));
      await expectItem(store, "a", value(1), "the unowned item by owner null", { owner: null });
      await store.set("a", value(2), { owner: null });
      await expectItem(store, "a", value(2), "the unowned item without an owner");
      sameList(
        (await listAll(store, { owner: null })).map(({ key }) => key),
        ["a"],
        "the unowned keys",
      );
      const again = store.create("a", value(3), { owner: null });
      await expectCode(again, "create of the unowned item by owner null", "conflict");
      same(await store.delete("a", { owner: null }), true, "delete of the unowned item by owner null");
      await expectAbsent(store, "a", "the unowned item after a delete by owner null");
    },
  },
  {
    id: "S31",
    title: "ttlSeconds works where ttl is declared, and is refused where it is not or makes no sense",
    contract: "StateStore; HistoryStore 17",
    reason: "State that should be gone and is not is a breach; state that should stay and is gone is a loss.",
    async run(trial) {
      if (!trial.declares("ttl")) {
        await expectCode(trial.open({ ttlSeconds: 60 }), "open() with ttlSeconds", "unsupported", "configuration");
        return;
      }
      for (const ttlSeconds of [0, -1, Number.NaN]) {
        await expectCode(trial.open({ ttlSeconds }), `open() with ttlSeconds ${ttlSeconds}`, "configuration");
      }
      await withLifetime(trial, async ({ store }, { pass }) => {
        await store.set("a", value(1));
        await expectItem(store, "a", value(1), "a young item");
        await pass(1.2);
        await expectAbsent(store, "a", "an expired item");
      });
    },
  },
  {
    id: "S32",
    title: "each write renews the item that it writes, and no other",
    contract: "StateStore",
    reason: "Items expire one by one; a busy neighbor does not keep them.",
    requires: { capabilities: ["ttl"] },
    async run(trial) {
      await withLifetime(trial, async ({ store }, { pass }) => {
        await store.create("busy", value(0));
        await store.create("idle", value(0));
        await pass(0.6);
        await store.set("busy", value(1));
        await pass(0.6);
        await expectItem(store, "busy", value(1), "0.6 lives after the last write");
        await expectAbsent(store, "idle", "an item 1.2 lives after its only write");
        await pass(0.6);
        await expectAbsent(store, "busy", "an item 1.2 lives after its last write");
      });
    },
  },
  {
    id: "S33",
    title: "reading and listing do not renew an item",
    contract: "StateStore",
    reason: "A dashboard that is left open must not keep the data for ever.",
    requires: { capabilities: ["ttl"] },
    async run(trial) {
      await withLifetime(trial, async ({ store }, { pass }) => {
        await store.create("a", value(1));
        await pass(0.6);
        await store.get("a");
        await store.listKeys();
        await pass(0.6);
        await expectAbsent(store, "a", "an item 1.2 lives after its write, 0.6 after the last read");
      });
    },
  },
  {
    id: "S34",
    title: "an expired item is absent for every call, and its key is free",
    contract: "StateStore",
    reason: "A lock that has expired can be taken again, and only once.",
    requires: { capabilities: ["ttl"] },
    async run(trial) {
      await withLifetime(trial, async ({ store }, { pass }) => {
        const { etag } = await store.create("a", value(1));
        await store.create("b", value(1));
        await pass(1.2);
        await expectKeys(store, [], "the keys after all items expired");
        same(await store.delete("b"), false, "delete of an expired item");
        for (const ifMatch of [etag, "*"]) {
          await expectCode(store.set("a", value(2), { ifMatch }), "a condition on an expired item", "conflict");
        }
        const created = await store.create("a", value(3));
        ensure(created.etag !== etag, "the new item has a new etag", created.etag);
        await expectItem(store, "a", value(3), "the item that was created after the expiry");
        await expectKeys(store, ["a"], "the keys after the new beginning");
      });
    },
  },
];

/** The store as one owner sees it. */
interface View {
  get(key: string): ReturnType<StateStore["get"]>;
  set(key: string, text: string): Promise<unknown>;
  create(key: string, text: string): Promise<unknown>;
  delete(key: string): Promise<boolean>;
  keys(): Promise<string[]>;
}

/** A store that derives the identity itself gives a store for each owner; any other takes the owner with each call. */
async function viewOf(opened: OpenedStateStore, owner: string | null): Promise<View> {
  const own = await opened.asOwner?.(owner);
  const store = own ?? opened.store;
  const scope = own === undefined ? { owner } : {};
  return {
    get: (key) => store.get(key, scope),
    set: (key, text) => store.set(key, text, scope),
    create: (key, text) => store.create(key, text, scope),
    delete: (key) => store.delete(key, scope),
    keys: async () => (await listAll(store, scope)).map(({ key }) => key),
  };
}
