import { expectCode, same } from "../expect.ts";
import { JSON_TEXTS, JSON_VALUES, jsonOfSize } from "../texts.ts";
import { conversation, expectRecords, expectStored, type HistoryClause, record, records } from "./support.ts";

/** Above this, a record at the limit costs more than it proves. */
const LARGEST_BUILT = 8 * 1024 * 1024;

const LARGEST_REFUSED = 128 * 1024 * 1024;

/** What is inside a record, and how much. */
export const dataClauses: readonly HistoryClause[] = [
  {
    id: "H20",
    title: "a record above maxRecordBytes is too_large, counted in UTF-8, and its whole batch is absent",
    contract: "HistoryStore 10",
    reason: "A turn without its largest message is no turn; the caller must hear before anything is stored.",
    async run(trial) {
      const { store } = await trial.open();
      const { maxRecordBytes } = store.capabilities;
      if (maxRecordBytes > LARGEST_REFUSED) {
        trial.notCovered(`maxRecordBytes is ${maxRecordBytes}, more than the kit builds`);
      }
      await store.append(conversation(), records("a", 1));
      const large = record("large", jsonOfSize(maxRecordBytes + 1));
      const batch = [...records("b", 2), large, ...records("c", 2)];
      await expectCode(store.append(conversation(), batch), "a record one byte too large", "too_large");
      await expectStored(store, conversation(), records("a", 1), "none of the batch is stored");
      const { appended } = await store.append(conversation(), records("b", 2));
      same(appended, 2, "appended of the rest of the refused batch");
    },
  },
  {
    id: "H21",
    title: "a record of exactly maxRecordBytes is stored",
    contract: "HistoryStore 10",
    reason: "A limit that is declared must be usable in full.",
    async run(trial) {
      const { store } = await trial.open();
      const { maxRecordBytes } = store.capabilities;
      if (maxRecordBytes > LARGEST_BUILT) {
        trial.notCovered(`maxRecordBytes is ${maxRecordBytes}, more than the kit stores`);
      }
      const batch = [record("first"), record("large", jsonOfSize(maxRecordBytes)), record("last")];
      await store.append(conversation(), batch);
      await expectStored(store, conversation(), batch, "a record at the limit");
    },
  },
  {
    id: "H22",
    title: "data comes back byte for byte, whatever JSON it holds",
    contract: "HistoryStore 3; JSON",
    reason: "Escaped NUL, lone surrogates, long numbers and odd keys are all part of real tool results.",
    async run(trial) {
      const { store } = await trial.open();
      const batch = [...JSON_TEXTS, ...JSON_VALUES].map((data, index) => record(`m${index}`, data));
      await store.append(conversation(), batch);
      await expectStored(store, conversation(), batch, "data in one append");
      for (const one of batch) {
        await store.append(conversation("single"), [one]);
      }
      const { records: newest } = await store.read(conversation("single"), { last: batch.length });
      expectRecords(newest, batch, "data in appends of their own");
    },
  },
  {
    id: "H23",
    title: "a record of one million bytes comes back byte for byte",
    contract: "HistoryStore 3",
    reason: "Tool results and attachments are large; a chunk boundary must not cut a character.",
    async run(trial) {
      const { store } = await trial.open();
      // Characters of one to four bytes, so that any fixed chunk size falls into the middle of one.
      const text = "aé\u2028😀".repeat(99_998);
      const batch = [record("before"), record("large", JSON.stringify({ text })), record("after")];
      await store.append(conversation(), batch);
      await expectStored(store, conversation(), batch, "a large record between small ones");
      const { records: newest } = await store.read(conversation(), { last: 2 });
      expectRecords(newest, batch.slice(1), "the newest two of them");
    },
  },
];
