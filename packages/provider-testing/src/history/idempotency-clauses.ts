import { ensure, present, same } from "../expect.ts";
import { conversation, expectStored, type HistoryClause, record, records } from "./support.ts";

/** Identity is by id, and by nothing else. */
export const idempotencyClauses: readonly HistoryClause[] = [
  {
    id: "H27",
    title: "a repeated append succeeds and adds nothing",
    contract: "HistoryStore 2",
    reason: "After a lost answer the caller repeats the call; that must not store the turn twice.",
    async run(trial) {
      const { store } = await trial.open();
      const [first, second] = [records("a", 4), records("b", 2)];
      await store.append(conversation(), first);
      await store.append(conversation(), second);
      for (const batch of [second, first, [...first, ...second], first.slice(1, 3)]) {
        const { appended } = await store.append(conversation(), batch);
        same(appended, 0, "appended of a repeated append");
      }
      await expectStored(store, conversation(), [...first, ...second], "after repeated appends");
    },
  },
  {
    id: "H28",
    title: "of an append whose ids are partly stored, only the new records are added",
    contract: "HistoryStore 2",
    reason: "A client that sends its whole transcript again adds one message, not all of them.",
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), records("a", 2));
      const changed = record("a-1", JSON.stringify({ text: "another text under a stored id" }));
      const { appended } = await store.append(conversation(), [record("new-0"), changed, record("new-1")]);
      same(appended, 2, "appended of a partly stored append");
      const expected = [...records("a", 2), ...records("new", 2)];
      await expectStored(store, conversation(), expected, "a stored record keeps its place and its data");
    },
  },
  {
    id: "H29",
    title: "records with equal data and different ids are different records",
    contract: "Identity; HistoryStore 2",
    reason: '"yes" said twice is two messages.',
    async run(trial) {
      const { store } = await trial.open();
      const yes = JSON.stringify({ text: "yes" });
      const batches = [[record("m1", yes), record("m2", yes)], [record("m3", yes)], [record("m4", yes)]];
      for (const batch of batches) {
        const { appended } = await store.append(conversation(), batch);
        same(appended, batch.length, "appended of records with equal data");
      }
      await expectStored(store, conversation(), batches.flat(), "records with equal data");
    },
  },
  {
    id: "H30",
    title: "an append that adds nothing gives the current version and does not move it",
    contract: "HistoryStore 2, 6",
    reason: "A retry that moves the version makes everyone else's next conditional append fail.",
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), records("a", 2));
      const { version } = await store.append(conversation(), records("b", 2));
      const retry = await store.append(conversation(), records("a", 2));
      same(retry.appended, 0, "appended of the retry");
      same(retry.version, version, "the version of a retry that adds nothing is the current one");
      same((await store.read(conversation())).version, version, "the version that is read after the retry");
    },
  },
  {
    id: "H31",
    title: "ids are remembered as far back as capabilities.dedupe says",
    contract: "HistoryStore 2",
    reason: "A caller may rely on the window that the store declares.",
    async run(trial) {
      const { store } = await trial.open();
      const { dedupe } = store.capabilities;
      const window = dedupe === "all" ? 1_500 : Math.min(dedupe, 20_000);
      const early = records("early", 200);
      await store.append(conversation(), early);
      const rest = records("rest", window - early.length);
      for (let start = 0; start < rest.length; start += 400) {
        await store.append(conversation(), rest.slice(start, start + 400));
      }
      const retry = await store.append(conversation(), early);
      same(retry.appended, 0, `appended of a retry ${window} records later`);
      const page = await store.read(conversation());
      same(page.records.length, window, "the number of records after the retry");
      ensure(page.records[0]?.id === "early-0", "the oldest record stays the oldest", page.records[0]?.id);
    },
  },
  {
    id: "H33",
    title: "a second store recognizes the ids that the first one stored",
    contract: "HistoryStore 2",
    reason: "The retry of a request often reaches another process.",
    requires: { capabilities: ["processes"], hooks: ["another"] },
    async run(trial) {
      const opened = await trial.open();
      const other = await present(opened.another?.(), "another()");
      const batch = records("a", 3);
      const { version } = await opened.store.append(conversation(), batch);
      const retry = await other.append(conversation(), batch);
      same(retry.appended, 0, "appended of a retry through the second store");
      same(retry.version, version, "the version of a retry through the second store");
      await expectStored(opened.store, conversation(), batch, "after the retry");
    },
  },
];
