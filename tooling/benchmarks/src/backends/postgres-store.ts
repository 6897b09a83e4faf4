import type { HistoryRecord } from "@agentfw/core";
import { messages } from "../conversation.ts";
import type { Backend, JobContext, OpenJob, Operation } from "../measurement.ts";
import { openPostgres, type PostgresPlace } from "../postgres-place.ts";
import { assertLoaded } from "../provider-turns.ts";
import { appendingRecords, inPieces, keyOf, loadingRecords, records, type Target } from "../store-records.ts";
import { FEW_MESSAGES, insertTurn, renewing, selectLast } from "./postgres.ts";

/**
 * The store alone against its statements alone, with texts that are there already: no message is made into JSON, and
 * none is made of it.
 */
export const postgresStoreBackend: Backend = {
  name: "postgres-store",
  jobs: {
    "append-turn": appendJob,
    "load-last-20": ({ sizes }) => loadJob([sizes.messages], sizes.manyMessages),
    "load-last-20-of-100000": ({ sizes }) => loadJob([sizes.manyMessages, FEW_MESSAGES], sizes.manyMessages),
  },
};

async function appendJob({ sizes }: JobContext): Promise<OpenJob> {
  const place = await openPostgres(sizes.manyMessages);
  const seed = records(messages(sizes.messages));
  const renewed = (
    name: string,
    fill: (session: string) => Promise<unknown>,
    append: (session: string, added: readonly HistoryRecord[]) => Promise<unknown>,
  ): Target => {
    const conversation = renewing(name, sizes.messages, fill);
    return {
      prepare: () => conversation.prepare(),
      append: (added) => append(conversation.session(), added),
    };
  };
  const fillTable = (session: string) => place.insert(session, seed);
  const contenders = [
    appendingRecords(
      "raw",
      renewed("raw", fillTable, (session, added) => insertTurn(place, session, added)),
    ),
    appendingRecords(
      "raw prepared",
      renewed("prepared", fillTable, (session, added) => insertTurn(place, session, added, "raw-insert")),
    ),
    appendingRecords(
      "agentfw",
      renewed(
        "agentfw",
        (session) => place.store.append(keyOf(session), seed),
        (session, added) => place.store.append(keyOf(session), added),
      ),
    ),
  ];
  await place.settle();
  return { contenders: contenders.map(place.counted), close: () => place.close() };
}

async function loadJob([count = 0, ...otherCounts]: readonly number[], others: number): Promise<OpenJob> {
  const place = await openPostgres(others);
  const contenders = [...(await rawLoads(place, count)), await loadingRecords(place.store, "agentfw", count)];
  for (const length of otherCounts) {
    contenders.push(await loadingRecords(place.store, `agentfw ${length}`, length));
  }
  await place.settle();
  return { contenders: contenders.map(place.counted), close: () => place.close() };
}

async function rawLoads(place: PostgresPlace, count: number): Promise<Operation[]> {
  await inPieces(count, (piece) => place.insert("raw", piece));
  const load = async (name?: string) => {
    const texts = await selectLast(place, "raw", name);
    assertLoaded(texts.length);
  };
  return [
    { name: "raw", operation: () => load() },
    { name: "raw prepared", operation: () => load("raw-select") },
  ];
}
