import type { HistoryStore } from "@agentfw/core";
import { all, ensure, expectCode, present, same, sameList } from "../expect.ts";
import { conversation, expectStored, type HistoryClause, idsOf, record, records } from "./support.ts";

const MAX = 10;

const CAPABILITIES = { capabilities: ["maxRecords"] };

/** A limit on the number of records. */
export const limitClauses: readonly HistoryClause[] = [
  {
    id: "H74",
    title: "maxRecords works where it is declared, and is refused where it is not or makes no sense",
    contract: "HistoryStore 8, 17",
    reason: "A limit that is silently ignored fills the store.",
    async run(trial) {
      if (!trial.declares("maxRecords")) {
        await expectCode(trial.open({ maxRecords: MAX }), "open() with maxRecords", "unsupported", "configuration");
        return;
      }
      for (const maxRecords of [-1, 2.5, Number.NaN]) {
        await expectCode(trial.open({ maxRecords }), `open() with maxRecords ${maxRecords}`, "configuration");
      }
      const { store } = await trial.open({ maxRecords: MAX });
      await store.append(conversation(), records("a", 12));
      await expectStored(store, conversation(), records("a", 12).slice(-MAX), "the newest 10 of 12 records");
      const { store: empty } = await trial.open({ maxRecords: 0 });
      const { appended } = await empty.append(conversation(), records("a", 2));
      same(appended, 2, "appended where nothing is kept");
      await expectStored(empty, conversation(), [], "with maxRecords 0");
      await empty.append(conversation(), records("b", 2));
      await expectStored(empty, conversation(), [], "with maxRecords 0, after a second append");
    },
  },
  {
    id: "H75",
    title: "each conversation keeps its newest maxRecords records, also of one larger append",
    contract: "HistoryStore 8",
    reason: "The end of the conversation is what the next answer depends on.",
    requires: CAPABILITIES,
    async run(trial) {
      const { store } = await trial.open({ maxRecords: MAX });
      await store.append(conversation("other"), records("other", 4));
      const first = records("a", 7);
      const second = records("b", 6);
      await store.append(conversation(), first);
      await expectStored(store, conversation(), first, "below the limit");
      await store.append(conversation(), second);
      const page = await expectStored(store, conversation(), [...first, ...second].slice(-MAX), "above the limit");
      same(page.older, undefined, "older of a full read after trimming");
      const { first: oldest } = await store.read(conversation(), { last: 1, withFirst: true });
      same(oldest?.id, "a-3", "first after trimming");
      const large = records("c", 25);
      const { appended } = await store.append(conversation(), large);
      same(appended, 25, "appended of an append above the limit");
      await expectStored(store, conversation(), large.slice(-MAX), "one append above the limit");
      await expectStored(store, conversation("other"), records("other", 4), "another conversation");
    },
  },
  {
    id: "H76",
    title: "no reader ever sees more than maxRecords records",
    contract: "HistoryStore 8",
    reason: "Trimming in a second step leaves a moment, and after a crash for ever, in which the limit is broken.",
    requires: CAPABILITIES,
    async run(trial) {
      const { store } = await trial.open({ maxRecords: MAX });
      const batches = Array.from({ length: 30 }, (_, index) => records(`batch-${index}`, 4));
      const readers = Array.from({ length: 12 }, () => readRepeatedly(store, 8));
      await all<unknown>([...batches.map((batch) => store.append(conversation(), batch)), ...readers]);
      const { records: stored } = await store.read(conversation());
      same(stored.length, MAX, "the number of records in the end");
      const whole = stored.slice(2);
      for (let start = 0; start < whole.length; start += 4) {
        const ids = idsOf(whole.slice(start, start + 4));
        const batch = batches.find((one) => one[0]?.id === ids[0]);
        sameList(ids, idsOf(present(batch, "a batch that begins here")), "the newest batches stay together");
      }
    },
  },
  {
    id: "H77",
    title: "a replace keeps to maxRecords too",
    contract: "HistoryStore 8, 11",
    reason: "No reader ever sees more, however the records came in.",
    requires: { capabilities: ["maxRecords", "replace"] },
    async run(trial) {
      const { store } = await trial.open({ maxRecords: MAX });
      await store.append(conversation(), records("a", 9));
      await store.replace?.(conversation(), { fromId: "a-8", throughId: "a-8" }, records("edited", 5));
      const expected = [...records("a", 8), ...records("edited", 5)].slice(-MAX);
      await expectStored(store, conversation(), expected, "a replace that makes more than 10 records");
      await store.append(conversation(), [record("next")]);
      await expectStored(store, conversation(), [...expected.slice(1), record("next")], "the next append");
    },
  },
];

async function readRepeatedly(store: HistoryStore, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const { records: found } = await store.read(conversation());
    ensure(found.length <= MAX, `a reader sees at most ${MAX} records`, found.length);
    const { records: newest } = await store.read(conversation(), { last: 100 });
    ensure(newest.length <= MAX, `a reader sees at most ${MAX} records`, newest.length);
  }
}
