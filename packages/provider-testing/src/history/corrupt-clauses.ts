import type { HistoryRecord, HistoryStore } from "@agentfw/core";
import { ensure, expectCode, present, same } from "../expect.ts";
import type { OpenedHistoryStore } from "../opened.ts";
import {
  conversation,
  expectRecords,
  expectStored,
  type HistoryClause,
  type HistoryTrial,
  readBackwards,
  record,
  records,
} from "./support.ts";

const REQUIRES = { hooks: ["corrupt"] } as const;

const STORED = records("a", 9);

const POSITION = 4;

const OTHERS = STORED.filter((_, index) => index !== POSITION);

/** One stored record that cannot be read. */
export const corruptClauses: readonly HistoryClause[] = [
  {
    id: "H82",
    title: "a corrupt record makes read reject with corrupt and its position",
    contract: "HistoryStore 9",
    reason: "A history that quietly lacks a message makes the model answer something else.",
    requires: REQUIRES,
    async run(trial) {
      const { store } = await openCorrupted(trial);
      for (const options of [{}, { last: 6 }, { onCorrupt: "error" as const }]) {
        const error = await expectCode(store.read(conversation(), options), "a page with a corrupt record", "corrupt");
        ensure(
          typeof error.position === "string" && error.position !== "",
          "the error carries position",
          error.position,
        );
        same(error.retryable, false, "retryable of a corrupt record");
      }
      await expectStored(store, conversation("other"), STORED, "another conversation");
    },
  },
  {
    id: "H83",
    title: 'with onCorrupt "skip" the other records come back and the position is reported',
    contract: "HistoryStore 9",
    reason: "One bad line must not cost the whole conversation, nor be hidden.",
    requires: REQUIRES,
    async run(trial) {
      const { store } = await openCorrupted(trial);
      const page = await store.read(conversation(), { onCorrupt: "skip" });
      expectRecords(page.records, OTHERS, "the readable records");
      same(page.corrupt?.length, 1, "the number of reported positions");
      ensure(page.corrupt?.[0] !== "", "a reported position says where");
      const { records: found } = await readBackwards(store, conversation(), 2, "skip");
      expectRecords(found, OTHERS, "the readable records in pages of 2");
      const sound = await store.read(conversation("other"), { onCorrupt: "skip" });
      same(sound.corrupt?.length ?? 0, 0, "the number of positions reported for a sound conversation");
    },
  },
  {
    id: "H84",
    title: "nothing corrupt is deleted or overwritten, and the conversation goes on",
    contract: "HistoryStore 9",
    reason: "What a later version or a person could repair must still be there.",
    requires: REQUIRES,
    async run(trial) {
      const { store } = await openCorrupted(trial);
      await store.read(conversation(), { onCorrupt: "skip" });
      const { appended } = await store.append(conversation(), [record("next")]);
      same(appended, 1, "appended after a corrupt record");
      await expectSkipped(store, [...OTHERS, record("next")]);
      await expectCode(store.read(conversation()), "the corrupt record is still there", "corrupt");
      await store.clear(conversation());
      await expectStored(store, conversation(), [], "a clear removes the corrupt record too");
    },
  },
];

async function openCorrupted(trial: HistoryTrial): Promise<OpenedHistoryStore> {
  const opened = await trial.open();
  const { store } = opened;
  for (const one of STORED) {
    await store.append(conversation(), [one]);
  }
  await store.append(conversation("other"), STORED);
  await present(
    opened.corrupt?.(conversation(), POSITION).then(() => true),
    "corrupt()",
  );
  return opened;
}

async function expectSkipped(store: HistoryStore, expected: readonly HistoryRecord[]): Promise<void> {
  const page = await store.read(conversation(), { onCorrupt: "skip" });
  expectRecords(page.records, expected, "the readable records");
  same(page.corrupt?.length, 1, "the number of reported positions");
}
