import type { ErrorCode, StateStore } from "@agentfw/core";
import { expectClosed } from "../closing.ts";
import { all, ensure, expectAbort, expectCode, present, same } from "../expect.ts";
import { duringOutage, expectOutage, type NamedCalls, openWithDeadline } from "../outage.ts";
import { expectMembersRefused, expectOptionsRefused, NO_NUMBERS, NO_OWNERS, NO_TEXTS } from "../wrong-options.ts";
import { expectAbsent, expectItem, expectKeys, type StateClause, value } from "./support.ts";

const SECRET = "c0ffee-secret-c0ffee";

const BROKEN = { hooks: ["breakBackend", "healBackend"] } as const;

/** Outages, many callers, and what is around the store. */
export const boundaryClauses: readonly StateClause[] = [
  {
    id: "S35",
    title: "64 items written at once do not touch each other",
    contract: "StateStore",
    reason: "Under load, one key's state must not turn up under another.",
    async run(trial) {
      const { store } = await trial.open();
      const keys = Array.from({ length: 64 }, (_, index) => `item-${index}`);
      await all(keys.flatMap((key) => [store.set(key, value(key)), store.set(`${key}-too`, value(`${key}-too`))]));
      for (const key of keys.flatMap((name) => [name, `${name}-too`])) {
        await expectItem(store, key, value(key), `the item ${key}`);
      }
      await expectKeys(store, [...keys, ...keys.map((key) => `${key}-too`)], "the keys that are listed");
    },
  },
  {
    id: "S36",
    title: "what one store writes or deletes, another store sees at once",
    contract: "StateStore",
    reason: "The next request is often answered by another process.",
    requires: { hooks: ["another"] },
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      const other = await present(opened.another?.(), "another()");
      await expectAbsent(other, "a", "before the first write");
      const { etag } = await store.set("a", value(1));
      const item = await expectItem(other, "a", value(1), "a write of the first store");
      same(item.etag, etag, "the etag that the second store reads");
      await other.set("a", value(2), { ifMatch: etag });
      await expectItem(store, "a", value(2), "a write of the second store");
      await store.delete("a");
      await expectAbsent(other, "a", "after a delete by the first store");
      await expectKeys(other, [], "the keys after a delete by the first store");
    },
  },
  {
    id: "S37",
    title: "a backend that is down makes every call reject, and never reads as absent",
    contract: "StateStore; HistoryStore 4",
    reason: "A session that reads as absent during an outage is started anew and written over.",
    requires: BROKEN,
    async run(trial) {
      const opened = await openWithDeadline(trial);
      await opened.store.set("a", value(1));
      await duringOutage(opened, "breakBackend", () => expectOutage(everyCall(opened.store)));
    },
  },
  {
    id: "S38",
    title: "after an outage, also one at its first call, the same store works again",
    contract: "StateStore; HistoryStore 12",
    reason: "Nobody restarts every process because a server was down for a minute.",
    requires: BROKEN,
    async run(trial) {
      const opened = await openWithDeadline(trial);
      const { store } = opened;
      for (let outage = 0; outage < 2; outage += 1) {
        await duringOutage(opened, "breakBackend", () => expectOutage({ get: () => store.get("a") }));
        await store.set(`item-${outage}`, value(outage));
      }
      await expectItem(store, "item-0", value(0), "what was written between the outages");
      await expectItem(store, "item-1", value(1), "what was written after the outages");
    },
  },
  {
    id: "S39",
    title: "a backend that answers nothing makes every call settle within its deadline",
    contract: "StateStore; HistoryStore 13",
    reason: "A blackholed connection must not hang a run.",
    requires: { hooks: ["stallBackend", "healBackend"] },
    async run(trial) {
      const opened = await openWithDeadline(trial);
      await opened.store.set("a", value(1));
      await duringOutage(opened, "stallBackend", () => expectOutage(everyCall(opened.store)));
      await opened.store.set("afterwards", value(2));
      await expectItem(opened.store, "afterwards", value(2), "after the backend answers again");
    },
  },
  {
    id: "S40",
    title: "a signal that is aborted already stops every call before it does anything",
    contract: "StateStore; HistoryStore 14",
    reason: "A user who went away must cost nothing more.",
    async run(trial) {
      const { store } = await trial.open();
      const { etag } = await store.set("a", value(1));
      for (const [name, call] of Object.entries(everyCall(store, AbortSignal.abort()))) {
        await expectAbort(call(), `${name} with an aborted signal`);
      }
      const item = await expectItem(store, "a", value(1), "after aborted calls");
      same(item.etag, etag, "the etag after aborted calls");
      await expectKeys(store, ["a"], "the keys after aborted calls");
    },
  },
  {
    id: "S41",
    title: "close leaves a client that was passed in open",
    contract: "StateStore; HistoryStore 16",
    reason: "The application shares its client with everything else.",
    requires: { hooks: ["sharedClient"] },
    async run(trial) {
      const opened = await trial.open();
      const shared = await present(opened.sharedClient?.(), "sharedClient()");
      await shared.store.set("a", value(1));
      await expectItem(shared.store, "a", value(1), "a store over a client that was passed in");
      await shared.store.close?.();
      same(await shared.isClientOpen(), true, "the client works after the store's close()");
    },
  },
  {
    id: "S49",
    title: "a call after close is refused, and close can be called again",
    contract: "StateStore; HistoryStore 16",
    reason:
      "A store that opens again by itself keeps a program from ending, and one that answers nothing loses the state.",
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      await store.set("a", value(1));
      await expectClosed(trial, store, everyCall(store));
      const other = await opened.another?.();
      if (other !== undefined) {
        await expectItem(other, "a", value(1), "calls after close() change nothing");
        await expectKeys(other, ["a"], "the keys after calls behind close()");
      }
    },
  },
  {
    id: "S42",
    title: "error messages carry neither what is stored nor tags",
    contract: "Secrets and trust",
    reason: "Errors go to logs, and to people who must not read the state.",
    async run(trial) {
      const { store } = await trial.open();
      await store.set("a", value(SECRET), { tags: { kind: SECRET } });
      const tags = { kind: SECRET };
      const refused: NamedCalls = {
        "create of an item that is there": () => store.create("a", value(SECRET), { tags }),
        "a set of another version": () => store.set("a", value(SECRET), { ifMatch: "no such etag", tags }),
        "a set of what is no object": () => store.set("a", `[${JSON.stringify(SECRET)}]`),
        "a set of what is no JSON": () => store.set("a", `{${SECRET}`),
        "a set under no key": () => store.set("", value(SECRET)),
      };
      for (const [name, call] of Object.entries(refused)) {
        const { message } = await expectCode(call(), name, "conflict", "configuration");
        ensure(!message.includes(SECRET), `${name}: an error message carries nothing that is stored`);
      }
    },
  },
  {
    id: "S43",
    title: "options that are no object, and members of them of the wrong type, are refused by every call",
    contract: "StateStore; HistoryStore 14",
    reason: "A limit, a condition or an owner that was passed wrongly must not be taken for none.",
    async run(trial) {
      const { store, asOwner } = await trial.open();
      await store.set("a", value(1));
      const [create, set, remove] = [
        ["create", "b", value(2)] as const,
        ["set", "a", value(2)] as const,
        ["delete", "a"] as const,
      ];
      const every = [create, set, ["get", "a"], remove, ["listKeys"]] as const;
      await expectOptionsRefused(store, every);
      for (const call of [set, remove]) {
        await expectMembersRefused(store, call, { ifMatch: NO_TEXTS });
      }
      await expectMembersRefused(store, ["listKeys"], { limit: NO_NUMBERS, cursor: NO_TEXTS, order: NO_TEXTS });
      // A store that derives the identity itself ignores the owner.
      for (const call of asOwner === undefined ? every : []) {
        await expectMembersRefused(store, call, { owner: NO_OWNERS }, ...withoutIsolation(store));
      }
      await expectItem(store, "a", value(1), "after refused calls");
      await expectKeys(store, ["a"], "the keys after refused calls");
    },
  },
];

function withoutIsolation({ capabilities }: StateStore): readonly ErrorCode[] {
  return capabilities.isolation ? [] : ["unsupported"];
}

function everyCall(store: StateStore, signal?: AbortSignal): NamedCalls {
  return {
    get: () => store.get("a", { signal }),
    "get of an unknown key": () => store.get("unknown", { signal }),
    create: () => store.create("b", value(2), { signal }),
    set: () => store.set("a", value(2), { signal }),
    delete: () => store.delete("a", { signal }),
    listKeys: () => store.listKeys({ signal }),
  };
}
