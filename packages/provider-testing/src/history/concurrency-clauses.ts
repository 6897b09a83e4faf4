import type { HistoryRecord, HistoryStore } from "@agentfw/core";
import { all, ensure, present, same, sameList } from "../expect.ts";
import {
  conversation,
  expectRecords,
  expectStored,
  expectWholeBatches,
  type HistoryClause,
  idsOf,
  records,
} from "./support.ts";

const ROUNDS = 15;

/** Many callers at once. */
export const concurrencyClauses: readonly HistoryClause[] = [
  {
    id: "H06",
    title: "100 appends of 4 records at once lose nothing and stay contiguous",
    contract: "HistoryStore 1",
    reason: "Two users who answer at the same moment must not be cut into each other, or overwrite each other.",
    async run(trial) {
      const { store } = await trial.open();
      await expectContiguous([store]);
    },
  },
  {
    id: "H07",
    title: "100 appends of 4 records at once through two stores lose nothing and stay contiguous",
    contract: "HistoryStore 1",
    reason: "A lock inside one process does not keep another process out.",
    requires: { capabilities: ["processes"], hooks: ["another"] },
    async run(trial) {
      const opened = await trial.open();
      await expectContiguous([opened.store, await present(opened.another?.(), "another()")]);
    },
  },
  {
    id: "H25",
    title: "64 conversations written at once do not touch each other",
    contract: "Identity; HistoryStore 1",
    reason: "Under load, one user's records must not turn up in another one's conversation.",
    async run(trial) {
      const { store } = await trial.open();
      const sessions = Array.from({ length: 64 }, (_, index) => `session-${index}`);
      const turns = [0, 1, 2];
      await all(
        sessions.flatMap((session) =>
          turns.map((turn) => store.append(conversation(session), records(`${session}-${turn}`, 2))),
        ),
      );
      const pages = await all(sessions.map((session) => store.read(conversation(session))));
      for (const [index, page] of pages.entries()) {
        const session = sessions[index] ?? "";
        const batches = turns.map((turn) => records(`${session}-${turn}`, 2));
        expectWholeBatches(page.records, batches, `conversation ${index} of 64`);
      }
    },
  },
  {
    id: "H32",
    title: "the same append sent 40 times at once is stored once",
    contract: "HistoryStore 2",
    reason: "A client that retries on a slow answer must not store its turn twice.",
    async run(trial) {
      const { store } = await trial.open();
      const batch = records("a", 3);
      const answers = await all(Array.from({ length: 40 }, () => store.append(conversation(), batch)));
      sameList(
        answers.map(({ appended }) => String(appended)).sort(),
        [...Array.from({ length: 39 }, () => "0"), "3"],
        "exactly one of the equal appends adds its records",
      );
      await expectStored(store, conversation(), batch, "after 40 equal appends");
    },
  },
  {
    id: "H51",
    title: "an append that races with a clear is wholly before or wholly after it",
    contract: "HistoryStore 5",
    reason: "Half a turn that outlives a clear is a tool result without its call.",
    async run(trial) {
      const { store } = await trial.open();
      for (let round = 0; round < ROUNDS; round += 1) {
        await raceWithClear(store, round);
      }
    },
  },
  {
    id: "H52",
    title: "what one store writes or clears, another store sees at once",
    contract: "HistoryStore 1, 2, 5",
    reason: "The next turn is often answered by another process.",
    requires: { capabilities: ["processes"], hooks: ["another"] },
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      const other = await present(opened.another?.(), "another()");
      await expectStored(other, conversation(), [], "before the first append");
      const { version } = await store.append(conversation(), records("a", 2));
      const page = await expectStored(other, conversation(), records("a", 2), "an append of the first store");
      same(page.version, version, "the version that the second store reads");
      await other.append(conversation(), records("b", 1));
      await expectStored(store, conversation(), [...records("a", 2), ...records("b", 1)], "an append of the second");
      await other.clear(conversation());
      await expectStored(store, conversation(), [], "after a clear by the second store");
      const again = await store.append(conversation(), records("a", 2));
      same(again.appended, 2, "appended after a clear by the second store");
      await expectStored(other, conversation(), records("a", 2), "the new life of the conversation");
    },
  },
];

async function expectContiguous(stores: readonly HistoryStore[]): Promise<void> {
  const batches = Array.from({ length: 100 }, (_, index) => records(`batch-${index}`, 4));
  const answers = await all(
    batches.map((batch, index) => present(stores[index % stores.length], "a store").append(conversation(), batch)),
  );
  ensure(
    answers.every(({ appended }) => appended === 4),
    "every append adds its 4 records",
  );
  same(new Set(answers.map(({ version }) => version)).size, 100, "the number of different versions");
  for (const store of stores) {
    const { records: stored, version } = await store.read(conversation());
    expectWholeBatches(stored, batches, "100 appends at once");
    ensure(
      answers.some((answer) => answer.version === version),
      "the version that is read was given by an append",
      version,
    );
  }
}

async function raceWithClear(store: HistoryStore, round: number): Promise<void> {
  const key = conversation(`round-${round}`);
  const [before, after] = [records("before", 4), records("after", 4)];
  await store.append(key, before);
  const racing = Array.from({ length: 6 }, (_, index) => records(`racing-${index}`, 4));
  const early = racing.slice(0, 3).map((batch) => store.append(key, batch));
  // A clear that starts a little later meets the appends at another of their steps.
  for (let step = 0; step < round % 5; step += 1) {
    await Promise.resolve();
  }
  const clear = store.clear(key);
  const late = racing.slice(3).map((batch) => store.append(key, batch));
  await all<unknown>([...early, clear, ...late]);
  await store.append(key, after);
  const { records: stored } = await store.read(key);
  expectOnlyWhole(stored, [...racing, after]);
}

/** Nothing else is there either: what was stored before the clear began does not outlive it. */
function expectOnlyWhole(stored: readonly HistoryRecord[], possible: readonly HistoryRecord[][]): void {
  const ids = new Set(idsOf(stored));
  const kept = possible.filter((batch) => batch.some(({ id }) => ids.has(id)));
  expectWholeBatches(stored, kept, "an append that raced with a clear");
  const last = present(possible.at(-1), "the append after the clear");
  expectRecords(stored.slice(-last.length), last, "the append after the clear");
}
