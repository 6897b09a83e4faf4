import type { HistoryStore } from "@agentfw/core";
import { all, endings, ensure, expectAbort, same } from "../expect.ts";
import { duringOutage, expectOutage, openWithDeadline } from "../outage.ts";
import {
  conversation,
  everyCall,
  expectStored,
  expectWholeBatches,
  type HistoryClause,
  idsOf,
  record,
  records,
} from "./support.ts";

const BROKEN = { hooks: ["breakBackend", "healBackend"] } as const;

const STALLED = { hooks: ["stallBackend", "healBackend"] } as const;

/** A backend that does not answer, and callers that do not wait. */
export const outageClauses: readonly HistoryClause[] = [
  {
    id: "H08",
    title: "a backend that is down makes every call reject, and never reads as empty",
    contract: "HistoryStore 4",
    reason: "An agent that reads an outage as a new conversation forgets its user and writes over the past.",
    requires: BROKEN,
    async run(trial) {
      const opened = await openWithDeadline(trial);
      await opened.store.append(conversation(), records("a", 2));
      await duringOutage(opened, "breakBackend", () => expectOutage(everyCall(opened.store)));
    },
  },
  {
    id: "H09",
    title: "after an outage the same store works again, with all that was stored",
    contract: "HistoryStore 12",
    reason: "Nobody restarts every process because a server was down for a minute.",
    requires: BROKEN,
    async run(trial) {
      const opened = await openWithDeadline(trial);
      const { store } = opened;
      await store.append(conversation(), records("a", 2));
      for (let outage = 0; outage < 2; outage += 1) {
        await duringOutage(opened, "breakBackend", () => expectOutage({ read: () => store.read(conversation()) }));
        const before = await store.read(conversation());
        ensure(
          before.records.length === 2 + outage,
          "what was stored before the outage is there",
          before.records.length,
        );
        const { appended } = await store.append(conversation(), [record(`after-${outage}`)]);
        same(appended, 1, "appended after the outage");
      }
      const expected = [...records("a", 2), ...records("after", 2)];
      await expectStored(store, conversation(), expected, "after two outages");
    },
  },
  {
    id: "H10",
    title: "a first connection that failed is not remembered",
    contract: "HistoryStore 12",
    reason: "A process that starts a second before its database must not fail until it is restarted.",
    requires: BROKEN,
    async run(trial) {
      const opened = await openWithDeadline(trial);
      const { store } = opened;
      await duringOutage(opened, "breakBackend", async () => {
        await expectOutage({ append: () => store.append(conversation(), records("a", 2)) });
        await expectOutage({ read: () => store.read(conversation()) });
      });
      // The first try may have been carried out when the backend came back: its ids make the second one safe.
      await store.append(conversation(), records("a", 2));
      await expectStored(store, conversation(), records("a", 2), "after a failed first connection");
    },
  },
  {
    id: "H11",
    title: "a backend that answers nothing makes every call settle within its deadline",
    contract: "HistoryStore 13",
    reason: "A blackholed connection must not hang a run.",
    requires: STALLED,
    async run(trial) {
      const opened = await openWithDeadline(trial);
      const { store } = opened;
      await store.append(conversation(), records("a", 2));
      await duringOutage(opened, "stallBackend", () => expectOutage(everyCall(store)));
      await store.append(conversation("afterwards"), records("b", 2));
      await expectStored(store, conversation("afterwards"), records("b", 2), "after the backend answers again");
    },
  },
  {
    id: "H12",
    title: "a signal that is aborted already stops every call before it does anything",
    contract: "HistoryStore 14",
    reason: "A user who went away must cost nothing more.",
    async run(trial) {
      const { store } = await trial.open();
      const { version } = await store.append(conversation(), records("a", 2));
      const calls = everyCall(store, AbortSignal.abort());
      for (const [name, call] of Object.entries(calls)) {
        await expectAbort(call(), `${name} with an aborted signal`);
      }
      const page = await expectStored(store, conversation(), records("a", 2), "after aborted calls");
      same(page.version, version, "the version after aborted calls");
    },
  },
  {
    id: "H13",
    title: "an append that is aborted on its way is complete or absent, and its retry stores it once",
    contract: "HistoryStore 1, 14",
    reason: "A cancelled turn may be kept or dropped, but never in halves and never twice.",
    async run(trial) {
      const { store } = await trial.open();
      const batches = Array.from({ length: 16 }, (_, index) => records(`batch-${index}`, 4));
      await endings(batches.map((batch, index) => appendAborted(store, batch, index)));
      // What was aborted after it was sent may still arrive; the retries come behind it in any case.
      const { records: meanwhile } = await store.read(conversation());
      const ids = new Set(idsOf(meanwhile));
      const begun = batches.filter((batch) => batch.some(({ id }) => ids.has(id)));
      expectWholeBatches(meanwhile, begun, "aborted appends");
      await all(batches.map((batch) => store.append(conversation(), batch)));
      const { records: stored } = await store.read(conversation());
      expectWholeBatches(stored, batches, "aborted appends after their retries");
    },
  },
];

/** Aborts after `steps` turns of the event loop. */
async function appendAborted(store: HistoryStore, batch: ReturnType<typeof records>, steps: number): Promise<unknown> {
  const controller = new AbortController();
  const append = store.append(conversation(), batch, { signal: controller.signal });
  append.catch(() => {});
  for (let step = 0; step < steps % 8; step += 1) {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  controller.abort();
  return append;
}
