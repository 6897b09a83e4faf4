import type { HistoryRecord, HistoryStore } from "@agentfw/core";
import { all, ensure, expectCode, fail, present, same, sameList } from "../expect.ts";
import {
  conversation,
  expectRecords,
  expectStored,
  type HistoryClause,
  type HistoryTrial,
  idsOf,
  readDuring,
  record,
  records,
} from "./support.ts";

const CAPABILITIES = { capabilities: ["replace"] };

/** Ten records to replace in. */
const STORED = records("a", 10);

/** Swapping a run of records for others. */
export const replaceClauses: readonly HistoryClause[] = [
  {
    id: "H53",
    title: "replace works where it is declared, and is refused where it is not",
    contract: "HistoryStore 17",
    reason: "Compaction that silently does nothing is found out when the context is full.",
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), STORED);
      const call = store.replace?.(conversation(), { fromId: "a-0", throughId: "a-8" }, [record("summary")]);
      if (trial.declares("replace")) {
        await present(call, "replace()");
        await expectStored(store, conversation(), [record("summary"), record("a-9")], "the replaced conversation");
        return;
      }
      if (call !== undefined) {
        await expectCode(call, "replace without the capability", "unsupported");
      }
      await expectStored(store, conversation(), STORED, "a refused replace changes nothing");
    },
  },
  {
    id: "H54",
    title: "replace swaps a prefix, which is compaction",
    contract: "HistoryStore 11",
    reason: "The summary stands where the old turns stood, and the newest turns stay.",
    requires: CAPABILITIES,
    run: (trial) => expectReplaced(trial, 0, 6, [record("summary")]),
  },
  {
    id: "H55",
    title: "replace swaps a suffix, which is edit and regenerate",
    contract: "HistoryStore 11",
    reason: "The edited question stands where the old one stood, and its old answer is gone.",
    requires: CAPABILITIES,
    run: (trial) => expectReplaced(trial, 7, 9, records("edited", 2)),
  },
  {
    id: "H56",
    title: "replace swaps a run in the middle, also of one record, which is redaction",
    contract: "HistoryStore 11",
    reason: "What came before and after must keep its place.",
    requires: CAPABILITIES,
    async run(trial) {
      await expectReplaced(trial, 3, 6, records("redacted", 2));
      await expectReplaced(trial, 4, 4, [record("redacted")]);
    },
  },
  {
    id: "H57",
    title: "replace by nothing removes the run, also when that is all there is",
    contract: "HistoryStore 11",
    reason: "Removing a part is not clearing: what was removed stays remembered.",
    requires: CAPABILITIES,
    async run(trial) {
      await expectReplaced(trial, 2, 4, []);
      await expectReplaced(trial, 0, 9, []);
    },
  },
  {
    id: "H58",
    title: "replace by more records than the run had keeps them in order and in place",
    contract: "HistoryStore 11",
    reason: "Positions that were handed out before do not leave room for more.",
    requires: CAPABILITIES,
    async run(trial) {
      await expectReplaced(trial, 4, 5, records("more", 25));
      await expectReplaced(trial, 0, 0, records("more", 25));
    },
  },
  {
    id: "H59",
    title: "the new records may carry ids of the run that they replace",
    contract: "HistoryStore 11",
    reason: "A redacted message keeps its id.",
    requires: CAPABILITIES,
    run: (trial) =>
      expectReplaced(trial, 3, 5, [record("a-5", '"redacted"'), record("new"), record("a-3", '"redacted too"')]),
  },
  {
    id: "H60",
    title: "the new records may not carry ids that are stored outside of the run",
    contract: "HistoryStore 2, 11",
    reason: "Two records under one id make every later answer ambiguous.",
    requires: CAPABILITIES,
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), STORED);
      for (const id of ["a-2", "a-6", "a-0", "a-9"]) {
        const range = { fromId: "a-3", throughId: "a-5" };
        const call = store.replace?.(conversation(), range, [record("new"), record(id)]);
        await expectCode(present(call, "replace()"), `an id stored outside of the run (${id})`, "configuration");
      }
      await expectStored(store, conversation(), STORED, "after refused replacements");
    },
  },
  {
    id: "H61",
    title: "replace is a conflict when either end of the run is no longer stored",
    contract: "HistoryStore 11",
    reason: "Of two compactions at once, the second must not remove what the first one wrote.",
    requires: CAPABILITIES,
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), STORED);
      await replaceIn(store, 0, 3, [record("summary")]);
      const kept = [record("summary"), ...STORED.slice(4)];
      for (const [fromId, throughId] of [
        ["a-0", "a-5"],
        ["a-5", "never"],
        ["a-1", "a-2"],
        ["never", "a-9"],
      ] as const) {
        const call = store.replace?.(conversation(), { fromId, throughId }, [record("second")]);
        await expectCode(present(call, "replace()"), `the run ${fromId} through ${throughId}`, "conflict");
      }
      const elsewhere = store.replace?.(conversation("unknown"), { fromId: "a-5", throughId: "a-6" }, []);
      await expectCode(present(elsewhere, "replace()"), "replace in an unknown conversation", "conflict");
      const backwards = store.replace?.(conversation(), { fromId: "a-8", throughId: "a-5" }, []);
      await expectCode(
        present(backwards, "replace()"),
        "a run that ends before it begins",
        "configuration",
        "conflict",
      );
      await expectStored(store, conversation(), kept, "after refused replacements");
    },
  },
  {
    id: "H62",
    title: "ids that were replaced stay remembered, so a late retry does not bring them back",
    contract: "HistoryStore 2, 11",
    reason: "Compacted or redacted messages must not reappear at the end of the conversation.",
    requires: CAPABILITIES,
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), STORED);
      const version = await replaceIn(store, 0, 6, [record("summary")]);
      const retry = await store.append(conversation(), STORED);
      same(retry.appended, 0, "appended of a retry after compaction");
      same(retry.version, version, "the version of a retry after compaction");
      const kept = [record("summary"), ...STORED.slice(7)];
      await expectStored(store, conversation(), kept, "after the retry");
      const partly = await store.append(conversation(), [record("a-2"), record("new")]);
      same(partly.appended, 1, "appended of a compacted and a new record");
      await expectStored(store, conversation(), [...kept, record("new")], "after a partly new append");
    },
  },
  {
    id: "H63",
    title: "appends at the time of a replace are kept, whole and behind it",
    contract: "HistoryStore 1, 11",
    reason: "Compaction runs while people go on talking.",
    requires: CAPABILITIES,
    async run(trial) {
      const { store } = await trial.open();
      await store.append(conversation(), STORED);
      const batches = Array.from({ length: 24 }, (_, index) => records(`meanwhile-${index}`, 2));
      const writers = [0, 1, 2, 3].map((writer) => appendInTurn(store, batches.slice(writer * 6, writer * 6 + 6)));
      const replaced = replaceIn(store, 0, 9, records("summary", 2));
      await all<unknown>([...writers, replaced]);
      const { records: found } = await store.read(conversation());
      expectRecords(found.slice(0, 2), records("summary", 2), "the replaced prefix");
      const ids = idsOf(found.slice(2));
      const order = [...batches].sort(
        (left, right) => ids.indexOf(left[0]?.id ?? "") - ids.indexOf(right[0]?.id ?? ""),
      );
      sameList(ids, idsOf(order.flat()), "every append made during the replace");
    },
  },
  {
    id: "H64",
    title: "readers see the run or its replacement, never a mixture",
    contract: "HistoryStore 11",
    reason: "A prompt built from half of a compaction misses turns that were never summarized.",
    requires: CAPABILITIES,
    async run(trial) {
      const { store } = await trial.open();
      const old = records("old", 40);
      await store.append(conversation(), [...old, record("tail")]);
      const summary = records("summary", 3);
      const readers = Array.from({ length: 12 }, () => readRepeatedly(store, 5));
      const replaced = replaceIn(store, 0, 39, summary, old);
      const during: string[][] = [];
      const watched = readDuring(replaced, store, (found) => during.push(idsOf(found)));
      const seen = (await all([replaced.then(() => []), ...readers, watched.then(() => during)])).flat();
      for (const ids of seen) {
        const expected = ids[0] === "old-0" ? old : summary;
        sameList(ids, [...idsOf(expected), "tail"], "what a reader sees during a replace");
      }
    },
  },
];

/** Replaces `from` through `through` of {@link STORED} in a conversation of its own and checks all that follows. */
async function expectReplaced(
  trial: HistoryTrial,
  from: number,
  through: number,
  replacement: readonly HistoryRecord[],
): Promise<void> {
  const { store } = await trial.open();
  await store.append(conversation(), STORED.slice(0, 4));
  const before = await store.append(conversation(), STORED.slice(4));
  const version = await replaceIn(store, from, through, replacement);
  ensure(version !== before.version && version !== "", "a replace gives a new version", version);
  const expected = [...STORED.slice(0, from), ...replacement, ...STORED.slice(through + 1)];
  await expectStored(store, conversation(), expected, "the conversation after the replace");
  if (expected.length > 0) {
    same((await store.read(conversation())).version, version, "the version that is read after the replace");
  }
  const page = await store.read(conversation(), { last: 3, withFirst: true });
  expectRecords(page.records, expected.slice(-3), "the newest records after the replace");
  same(page.first?.id, expected[0]?.id, "first after the replace");
  const { appended } = await store.append(conversation(), [record("next")]);
  same(appended, 1, "appended after the replace");
  await expectStored(store, conversation(), [...expected, record("next")], "an append after the replace");
  const replacedIds = STORED.slice(from, through + 1);
  const retry = await store.append(conversation(), replacedIds);
  same(retry.appended, 0, "appended of the records that were replaced");
}

async function replaceIn(
  store: HistoryStore,
  from: number,
  through: number,
  replacement: readonly HistoryRecord[],
  stored: readonly HistoryRecord[] = STORED,
): Promise<string> {
  const range = { fromId: stored[from]?.id ?? "", throughId: stored[through]?.id ?? "" };
  const { version } = await present(store.replace?.(conversation(), range, replacement), "replace()");
  return version;
}

async function appendInTurn(store: HistoryStore, batches: readonly (readonly HistoryRecord[])[]): Promise<void> {
  for (const batch of batches) {
    await store.append(conversation(), batch);
  }
}

async function readRepeatedly(store: HistoryStore, times: number): Promise<string[][]> {
  const seen: string[][] = [];
  for (let time = 0; time < times; time += 1) {
    const { records: found } = await store.read(conversation());
    seen.push(idsOf(found));
  }
  return seen.length === 0 ? fail("nothing was read") : seen;
}
