import { ensure, expectCode, same } from "../expect.ts";
import { conversation, expectRecords, expectStored, type HistoryClause, record, records } from "./support.ts";

/** What every HistoryStore does, whatever else it can. */
export const basicClauses: readonly HistoryClause[] = [
  {
    id: "H01",
    title: "the contract version is 1 and the capabilities are well-formed",
    contract: "HistoryStore 2, 10, 17",
    reason: "Core decides by them what it may ask of the store.",
    async run(trial) {
      const { store } = await trial.open();
      same(store.contractVersion, 1, "contractVersion");
      const { dedupe, processes, maxRecordBytes } = store.capabilities;
      ensure(
        dedupe === "all" || (Number.isSafeInteger(dedupe) && dedupe >= 1_000),
        'capabilities.dedupe must be "all" or a whole number of at least 1,000',
        dedupe,
      );
      ensure(processes === "one" || processes === "many", 'capabilities.processes must be "one" or "many"', processes);
      ensure(
        Number.isSafeInteger(maxRecordBytes) && maxRecordBytes >= 1_000_000,
        "capabilities.maxRecordBytes must be a whole number of at least 1,000,000",
        maxRecordBytes,
      );
      for (const name of ["conditionalAppend", "replace", "list", "ttl", "maxRecords"] as const) {
        const value: unknown = store.capabilities[name];
        ensure(typeof value === "boolean", `capabilities.${name} must be true or false`, value);
      }
    },
  },
  {
    id: "H02",
    title: 'an unknown conversation reads as no records and version "", and clearing it succeeds',
    contract: "HistoryStore 4",
    reason: "A new session must not be an error, and must be told from a failure.",
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation("other"), records("a", 2));
      for (const options of [{}, { last: 5 }, { last: 5, withFirst: true }]) {
        const page = await store.read(conversation("unknown"), options);
        expectRecords(page.records, [], "an unknown conversation has no records");
        same(page.version, "", "the version of an unknown conversation");
        same(page.older, undefined, "older of an unknown conversation");
        same(page.first?.id, undefined, "first of an unknown conversation");
      }
      await store.clear(conversation("unknown"));
      await expectStored(store, conversation("other"), records("a", 2), "another conversation is untouched");
    },
  },
  {
    id: "H03",
    title: "records come back oldest first, in the order in which they were appended",
    contract: "HistoryStore 1, 3",
    reason: "An answer that stands before its question makes the history useless.",
    async run(trial) {
      const { store } = await trial.open();
      const batches = [records("z", 3), records("a", 1), records("m", 12)];
      for (const batch of batches) {
        const { appended } = await store.append(conversation(), batch);
        same(appended, batch.length, "appended");
      }
      const page = await expectStored(store, conversation(), batches.flat(), "all appends in their order");
      same(page.older, undefined, "older of a full read");
    },
  },
  {
    id: "H04",
    title: "an append without records changes nothing and gives the current version",
    contract: "HistoryStore 1, 2",
    reason: "A run that stores nothing must not make a conversation, nor move its version.",
    async run(trial) {
      const { store } = await trial.open();
      const onNothing = await store.append(conversation("none"), []);
      same(onNothing.appended, 0, "appended of an empty append");
      same(onNothing.version, "", "the version of an empty append to an unknown conversation");
      same((await store.read(conversation("none"))).version, "", "the version afterwards");
      const { version } = await store.append(conversation(), records("a", 2));
      const again = await store.append(conversation(), []);
      same(again.appended, 0, "appended of an empty append");
      same(again.version, version, "the version of an empty append");
      await expectStored(store, conversation(), records("a", 2), "an empty append adds nothing");
    },
  },
  {
    id: "H05",
    title: "15,000 records in one append are stored all or none",
    contract: "HistoryStore 1",
    reason: "An import that stops half-way leaves a conversation that nobody can repair.",
    async run(trial) {
      const { store } = await trial.open();
      const many = records("bulk", 15_000);
      const broken = [...many.slice(0, -1), record("bulk-last", "{")];
      await expectCode(store.append(conversation("broken"), broken), "a malformed last record", "configuration");
      await expectStored(store, conversation("broken"), [], "none of a refused append is stored");
      const { appended } = await store.append(conversation(), many);
      same(appended, many.length, "appended");
      await expectStored(store, conversation(), many, "all of 15,000 records");
      const { records: newest } = await store.read(conversation(), { last: 3 });
      expectRecords(newest, many.slice(-3), "the newest of 15,000");
    },
  },
  {
    id: "H24",
    title: "300 small appends are all there, in order",
    contract: "HistoryStore 1, 3",
    reason: "A long conversation is many small writes; segments, chunks and rollovers must not show.",
    async run(trial) {
      const { store } = await trial.open();
      const all = records("turn", 300);
      const versions = new Set<string>();
      for (const one of all) {
        versions.add((await store.append(conversation(), [one])).version);
      }
      same(versions.size, all.length, "the number of different versions after 300 appends");
      await expectStored(store, conversation(), all, "300 appends");
    },
  },
];
