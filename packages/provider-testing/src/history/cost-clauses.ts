import type { HistoryStore } from "@agentfw/core";
import { ensure, same } from "../expect.ts";
import { conversation, type HistoryClause, record } from "./support.ts";

const FEW = 100;

const MANY = 20_000;

const READS = 15;

const ATTEMPTS = 3;

/** What reading costs. */
export const costClauses: readonly HistoryClause[] = [
  {
    id: "H87",
    title: "reading the newest 20 of 20,000 records takes no longer than of 100, by a wide margin",
    contract: "HistoryStore 3",
    reason: "A store that reads everything to give the end of it gets slower with every turn.",
    async run(trial) {
      const { store } = await trial.open();
      await fill(store, "short", FEW);
      await fill(store, "long", MANY);
      for (let attempt = 1; ; attempt += 1) {
        const few = await medianReadMs(store, "short");
        const many = await medianReadMs(store, "long");
        // Wide enough for a busy machine and a deeper index, and still far below what 20,000 records take.
        if (many <= 5 * few + 5) {
          return;
        }
        ensure(
          attempt < ATTEMPTS,
          `reading the newest 20 records took ${many.toFixed(1)} ms of ${MANY} and ${few.toFixed(1)} ms of ${FEW}`,
        );
      }
    },
  },
];

async function fill(store: HistoryStore, session: string, count: number): Promise<void> {
  const data = JSON.stringify({ text: "some words of an answer ".repeat(10) });
  for (let start = 0; start < count; start += 1_000) {
    const size = Math.min(1_000, count - start);
    const batch = Array.from({ length: size }, (_, index) => record(`m-${start + index}`, data));
    await store.append(conversation(session), batch);
  }
}

async function medianReadMs(store: HistoryStore, session: string): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < READS; turn += 1) {
    const start = performance.now();
    const { records } = await store.read(conversation(session), { last: 20 });
    times.push(performance.now() - start);
    same(records.length, 20, "the number of records");
  }
  return times.sort((left, right) => left - right)[Math.floor(READS / 2)] ?? 0;
}
