import type { HistoryKey, HistoryPage, HistoryRecord, HistoryStore } from "@agentfw/core";
import type { ContractClause, Trial } from "../clause.ts";
import { all, ensure, sameList } from "../expect.ts";
import type { OpenedHistoryStore } from "../opened.ts";
import type { NamedCalls } from "../outage.ts";

/** A clause of the contract of HistoryStore. */
export type HistoryClause = ContractClause<OpenedHistoryStore>;

/** What a clause on HistoryStore works with. */
export type HistoryTrial = Trial<OpenedHistoryStore>;

/** The key of a conversation; each `open()` sees its own data, so clauses may share it. */
export function conversation(session = "session-1", over: Partial<HistoryKey> = {}): HistoryKey {
  return { owner: "owner-1", source: "main", session, ...over };
}

/** One record whose data tells its id and nothing else. */
export function record(id: string, data: string = JSON.stringify({ text: `text of ${id}` })): HistoryRecord {
  return { id, data };
}

/** `count` records with ids `<prefix>-0`, `<prefix>-1` and so on. */
export function records(prefix: string, count: number): HistoryRecord[] {
  return Array.from({ length: count }, (_, index) => record(`${prefix}-${index}`));
}

/** The ids in order. */
export function idsOf(of: readonly HistoryRecord[]): string[] {
  return of.map(({ id }) => id);
}

/** Fails unless a full read gives exactly these records, ids and data, oldest first. Gives the page. */
export async function expectStored(
  store: HistoryStore,
  key: HistoryKey,
  expected: readonly HistoryRecord[],
  guarantee: string,
): Promise<HistoryPage> {
  const page = await store.read(key);
  expectRecords(page.records, expected, guarantee);
  return page;
}

/** Fails unless these are the expected records, ids and data. */
export function expectRecords(
  actual: readonly HistoryRecord[],
  expected: readonly HistoryRecord[],
  guarantee: string,
): void {
  sameList(idsOf(actual), idsOf(expected), `${guarantee} (ids)`);
  sameList(
    actual.map(({ data }) => data),
    expected.map(({ data }) => data),
    `${guarantee} (data)`,
  );
}

/** Fails unless the records of each batch are all there, side by side and in their order. */
export function expectWholeBatches(
  actual: readonly HistoryRecord[],
  batches: readonly (readonly HistoryRecord[])[],
  guarantee: string,
): void {
  const ids = idsOf(actual);
  const total = batches.reduce((sum, batch) => sum + batch.length, 0);
  ensure(ids.length === total, `${guarantee}: ${total} records must be stored`, ids.length);
  const positions = new Map(ids.map((id, index) => [id, index]));
  for (const batch of batches) {
    const start = positions.get(batch[0]?.id ?? "");
    ensure(start !== undefined, `${guarantee}: a whole batch is missing`, batch[0]?.id);
    sameList(ids.slice(start, start + batch.length), idsOf(batch), `${guarantee}: a batch must stay together`);
  }
}

/** A page's records with every older one, by following `older` in steps of `last`. */
export async function readBackwards(
  store: HistoryStore,
  key: HistoryKey,
  last: number,
  onCorrupt?: "skip",
): Promise<{ records: HistoryRecord[]; pages: number }> {
  let found: HistoryRecord[] = [];
  let before: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const page = await store.read(key, { last, before, onCorrupt });
    ensure(page.records.length <= last, `a page holds at most ${last} records`, page.records.length);
    found = [...page.records, ...found];
    before = page.older;
    if (before === undefined) {
      return { records: found, pages };
    }
    ensure(pages < 10_000, "paging back must come to an end");
  }
}

/**
 * Two readers read the conversation until the writes have ended, however they end, and show `look` what each read gave.
 * One comes back at every turn of the event loop, so that it meets what is short; the other pauses for a while, which is
 * not always the same, so that a store that works in step with the first one does not hide from both.
 */
export async function readDuring(
  writes: Promise<unknown>,
  store: HistoryStore,
  look: (found: readonly HistoryRecord[]) => void,
): Promise<void> {
  let areOver = false;
  const end = (): void => {
    areOver = true;
  };
  void writes.then(end, end);
  const read = async (pause: (time: number) => Promise<void>): Promise<void> => {
    for (let time = 0; !areOver; time += 1) {
      look((await store.read(conversation())).records);
      await pause(time);
    }
  };
  await all([
    read(() => new Promise((resolve) => setImmediate(resolve))),
    read((time) => new Promise((resolve) => setTimeout(resolve, time % 5))),
  ]);
}

/** Every call that the store declares, on the conversation of the clause and on one that is not there. */
export function everyCall(store: HistoryStore, signal?: AbortSignal): NamedCalls {
  const { replace, list } = store.capabilities;
  const range = { fromId: "a-0", throughId: "a-0" };
  return {
    append: () => store.append(conversation(), records("b", 1), { signal }),
    read: () => store.read(conversation(), { signal }),
    "read of the newest": () => store.read(conversation(), { last: 5, signal }),
    "read of an unknown conversation": () => store.read(conversation("unknown"), { signal }),
    "skipping read": () => store.read(conversation(), { onCorrupt: "skip", signal }),
    clear: () => store.clear(conversation(), { signal }),
    ...(replace ? { replace: async () => store.replace?.(conversation(), range, [record("new")], { signal }) } : {}),
    ...(list ? { list: async () => store.list?.({ owner: "owner-1" }, { signal }) } : {}),
  };
}
