import { ensure, resolvedOrRetryable, resolvedOrUnknown, same } from "../expect.ts";
import { conversation, expectStored, type HistoryClause, idsOf, record, records } from "./support.ts";

const LOST_REPLY = ["loseNextReply"] as const;

/** Calls whose request or reply is lost, or arrives twice. */
export const lostReplyClauses: readonly HistoryClause[] = [
  {
    id: "H89",
    title: "an append whose reply was lost is stored once, and so is its repetition",
    contract: "HistoryStore 2, 13",
    reason: "A caller that is told nothing was written, and believes it, says everything twice.",
    requires: { hooks: LOST_REPLY },
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      const key = conversation();
      const [first, second] = [records("first", 2), records("second", 3)];
      await store.append(key, first);
      await opened.loseNextReply?.();
      const ended = await resolvedOrUnknown(store.append(key, second), "an append whose reply was lost");
      const found = await store.read(key);
      if (ended !== undefined || found.records.length > first.length) {
        await expectStored(store, key, [...first, ...second], "after an append whose reply was lost");
        same(ended?.version ?? found.version, found.version, "the version that it gives");
        same((await store.append(key, second)).appended, 0, "the number of records that a repetition appends");
      }
      await store.append(key, second);
      await expectStored(store, key, [...first, ...second], "after a repetition");
    },
  },
  {
    id: "H90",
    title: "a conditional append whose reply was lost is no conflict with itself, nor is its repetition",
    contract: "HistoryStore 2, 6",
    reason: "A caller that is told of a conflict asks the model again, and pays and answers twice.",
    requires: { capabilities: ["conditionalAppend"], hooks: LOST_REPLY },
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      const key = conversation();
      const first = await store.append(key, records("first", 2));
      const options = { ifVersion: first.version };
      await opened.loseNextReply?.();
      await resolvedOrUnknown(store.append(key, records("second", 2), options), "an append whose reply was lost");
      await store.append(key, records("second", 2), options);
      await expectStored(store, key, [...records("first", 2), ...records("second", 2)], "in the end");
    },
  },
  {
    id: "H91",
    title: "a replace whose reply was lost is carried out once",
    contract: "HistoryStore 11, 13",
    reason: "A summary that is said to have failed is made again, of what it has replaced.",
    requires: { capabilities: ["replace"], hooks: LOST_REPLY },
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      const key = conversation();
      await store.append(key, records("old", 4));
      await opened.loseNextReply?.();
      const call = store.replace?.(key, { fromId: "old-0", throughId: "old-2" }, [record("summary")]);
      const ended = await resolvedOrUnknown(Promise.resolve(call), "a replace whose reply was lost");
      const [first] = (await store.read(key)).records;
      const isDone = ended !== undefined || first?.id === "summary";
      const expected = isDone ? [record("summary"), record("old-3")] : records("old", 4);
      await expectStored(store, key, expected, "after a replace whose reply was lost");
    },
  },
  {
    id: "H92",
    title: "an append whose request was lost is stored once or not at all, and says which it may be",
    contract: "HistoryStore 1, 13",
    reason: "What is acknowledged and not there is lost for good.",
    requires: { hooks: ["loseNextRequest"] },
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      const key = conversation();
      const [first, second] = [records("first", 2), records("second", 3)];
      await store.append(key, first);
      await opened.loseNextRequest?.();
      const ended = await resolvedOrRetryable(store.append(key, second), "an append whose request was lost");
      const found = idsOf((await store.read(key)).records);
      const isWhole = found.length === first.length + second.length;
      ensure(isWhole || found.length === first.length, "all of the append is stored, or none of it", found);
      ensure(isWhole || ended === undefined, "an append that succeeded is stored", found);
      await store.append(key, second);
      await expectStored(store, key, [...first, ...second], "after a repetition");
    },
  },
  {
    id: "H93",
    title: "an append that reaches the backend twice is stored once",
    contract: "HistoryStore 2",
    reason: "Drivers, proxies and load balancers repeat requests that they believe to be lost.",
    requires: { hooks: ["duplicateNextRequest"] },
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      const key = conversation();
      const [first, second, third] = [records("first", 2), records("second", 3), records("third", 1)];
      await store.append(key, first);
      await opened.duplicateNextRequest?.();
      await resolvedOrUnknown(store.append(key, second), "an append that arrives twice");
      await store.append(key, third);
      await expectStored(store, key, [...first, ...second, ...third], "after an append that arrived twice");
    },
  },
  {
    id: "H94",
    title: "an append whose reply was lost and that succeeds tells how many records it added itself",
    contract: "HistoryStore 2",
    reason: "A run that is told its answer was stored already takes it for another run's, and ends with a conflict.",
    requires: { hooks: LOST_REPLY },
    upcoming: true,
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      const key = conversation();
      await store.append(key, records("first", 2));
      await opened.loseNextReply?.();
      const call = store.append(key, [...records("first", 1), ...records("second", 3)]);
      const ended = await resolvedOrUnknown(call, "an append whose reply was lost");
      same(ended?.appended ?? 3, 3, "the number of records that it says it added");
    },
  },
];
