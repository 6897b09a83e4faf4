import { ensure, resolvedOrRetryable, resolvedOrUnknown, same } from "../expect.ts";
import { expectAbsent, expectItem, type StateClause, value } from "./support.ts";

const LOST_REPLY = { hooks: ["loseNextReply"] } as const;

/** Calls whose request or reply is lost. */
export const lostReplyClauses: readonly StateClause[] = [
  {
    id: "S44",
    title: "a create whose reply was lost is no conflict with itself",
    contract: "StateStore; HistoryStore 13",
    reason: "Whoever made the item is told that somebody else has, and gives up what is theirs.",
    requires: LOST_REPLY,
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      await store.set("other", value(0));
      await opened.loseNextReply?.();
      const ended = await resolvedOrUnknown(store.create("a", value(1)), "a create whose reply was lost");
      if (ended === undefined && (await store.get("a")) === undefined) {
        await store.create("a", value(1));
      }
      const { etag } = await expectItem(store, "a", value(1), "after a create whose reply was lost");
      same(ended?.etag ?? etag, etag, "the etag that the create gave");
    },
  },
  {
    id: "S45",
    title: "a conditional set whose reply was lost is no conflict with itself",
    contract: "StateStore; HistoryStore 13",
    reason: "A caller that is told of a conflict reads, changes and writes what it has written already.",
    requires: LOST_REPLY,
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      const first = await store.create("a", value(1));
      await opened.loseNextReply?.();
      const call = store.set("a", value(2), { ifMatch: first.etag });
      const ended = await resolvedOrUnknown(call, "a conditional set whose reply was lost");
      const item = await store.get("a");
      if (ended === undefined && item?.etag === first.etag) {
        await store.set("a", value(2), { ifMatch: first.etag });
      }
      const { etag } = await expectItem(store, "a", value(2), "after a set whose reply was lost");
      same(ended?.etag ?? etag, etag, "the etag that the set gave");
    },
  },
  {
    id: "S46",
    title: "a delete whose reply was lost says that it deleted, or that it does not know",
    contract: "StateStore; HistoryStore 13",
    reason: "A lock that is said to have been gone already was somebody else's.",
    requires: LOST_REPLY,
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      await store.create("a", value(1));
      await opened.loseNextReply?.();
      const deleted = await resolvedOrUnknown(store.delete("a"), "a delete whose reply was lost");
      ensure(deleted !== false, "a delete that deleted does not say that there was nothing", deleted);
      if (deleted === undefined) {
        await store.delete("a");
      }
      await expectAbsent(store, "a", "after a delete whose reply was lost");
    },
  },
  {
    id: "S47",
    title: "a set whose request was lost is not said to have been done unless it was",
    contract: "StateStore; HistoryStore 13",
    reason: "What is acknowledged and not there is lost for good.",
    requires: { hooks: ["loseNextRequest"] },
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      await store.set("a", value(1));
      await opened.loseNextRequest?.();
      const ended = await resolvedOrRetryable(store.set("a", value(2)), "a set whose request was lost");
      const item = await store.get("a");
      const isDone = item?.text === value(2);
      ensure(isDone || item?.text === value(1), "the item is as it was before, or as it was set", item?.text);
      ensure(isDone || ended === undefined, "a set that succeeded is done", item?.text);
      await store.set("a", value(3));
      await expectItem(store, "a", value(3), "after the next set");
    },
  },
];
