import type { HistoryPage, HistoryRecord } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant } from "../../support/mutant.ts";
import { replaceBy, withPages } from "./helpers.ts";

/** Defects of reading. */
const readingMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("gives the oldest records for last", ["H42"], (store, world) => ({
    read: async (key, options) => {
      const page = await store.read(key, options);
      const { records } = await world.inner.read(key);
      return options?.last === undefined ? page : { ...page, records: records.slice(0, options.last) };
    },
  })),
  historyMutant(
    "reads and parses everything to give the end of it",
    ["H87"],
    (store, world) => ({
      read: async (key, options) => {
        const { records } = await world.inner.read(key);
        JSON.stringify(records.map(({ data }): unknown => JSON.parse(data)));
        return store.read(key, options);
      },
    }),
    { spares: ["H42", "H43"] },
  ),
  historyMutant("repeats the record at the edge of each page", ["H43"], (store, world) => ({
    read: async (key, options) => {
      const page = await store.read(key, options);
      const { records } = await world.inner.read(key);
      const edge = records.filter(({ id }) => id === options?.before);
      return { ...page, records: [...page.records, ...edge].slice(-(options?.last ?? Number.POSITIVE_INFINITY)) };
    },
  })),
  historyMutant("leaves a record out between two pages", ["H43"], (store) =>
    withPages(store, (page, options) =>
      options?.before === undefined ? page : { ...page, records: page.records.slice(0, -1) },
    ),
  ),
  historyMutant("gives a cursor on every page, also the last", ["H44"], (store) => ({
    read: async (key, options) => {
      const page = await store.read(key, options);
      const oldest = page.records[0]?.id;
      return oldest === undefined || options?.last === undefined ? page : { ...page, older: oldest };
    },
  })),
  historyMutant(
    "counts its cursor from the end",
    ["H45"],
    (store, world) => ({
      read: async (key, options) => {
        if (options?.before !== undefined && !/^\d+$/.test(options.before)) {
          return store.read(key, options);
        }
        const { records, version } = await world.inner.read(key);
        const skipped = Number(options?.before ?? 0);
        const end = Math.max(0, records.length - skipped);
        const start = options?.last === undefined ? 0 : Math.max(0, end - options.last);
        const older = start > 0 ? { older: String(records.length - start) } : {};
        const first = options?.withFirst && records[0] ? { first: records[0] } : {};
        return { records: records.slice(start, end), version, ...older, ...first };
      },
    }),
    { spares: ["H42", "H43", "H44", "H46"] },
  ),
  historyMutant("gives the first record of the page as the first of the conversation", ["H46"], (store) =>
    withPages(store, (page, options) => withFirst(page, options?.withFirst ? page.records[0] : undefined)),
  ),
  historyMutant("takes last: 0 and NaN for all", ["H47"], (store) => ({
    read: (key, options) => store.read(key, { ...options, last: options?.last || undefined }),
  })),
  historyMutant("takes any text for withFirst: true", ["H47"], (store) => ({
    read: (key, options) => store.read(key, { ...options, withFirst: Boolean(options?.withFirst) }),
  })),
  historyMutant("takes null for the rule that skips damage", ["H47"], (store) => ({
    read: (key, options) =>
      store.read(key, { ...options, onCorrupt: options?.onCorrupt === null ? "skip" : options?.onCorrupt }),
  })),
  historyMutant("answers a cursor that it does not know with an empty page", ["H48"], (store, world) => ({
    read: async (key, options) => {
      const { records, version } = await world.inner.read(key);
      const isKnown = options?.before === undefined || records.some(({ id }) => id === options.before);
      return isKnown || options?.before === "" ? store.read(key, options) : { records: [], version };
    },
  })),
];

function withFirst({ first: _, ...page }: HistoryPage, first: HistoryRecord | undefined): HistoryPage {
  return first === undefined ? page : { ...page, first };
}

/** Defects of replace that rebuild the list in a wrong way. */
const rebuildingMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant(
    "puts replacements at the end",
    ["H54", "H56", "H58", "H59"],
    (_, world) =>
      replaceBy(world, (stored, from, through, records) => [
        ...stored.slice(0, from),
        ...stored.slice(through + 1),
        ...records,
      ]),
    { spares: ["H55"] },
  ),
  historyMutant("keeps the last record of the range", ["H53", "H54", "H55", "H57"], (_, world) =>
    replaceBy(world, (stored, from, through, records) => [
      ...stored.slice(0, from),
      ...records,
      ...stored.slice(through),
    ]),
  ),
  historyMutant(
    "overwrites the range in place and drops what is too much",
    ["H58"],
    (_, world) =>
      replaceBy(world, (stored, from, through, records) => [
        ...stored.slice(0, from),
        ...records.slice(0, through + 1 - from),
        ...stored.slice(through + 1),
      ]),
    { spares: ["H54", "H55", "H56", "H57"] },
  ),
  historyMutant("keeps the range when there is nothing to put in its place", ["H57"], (_, world) =>
    replaceBy(world, (stored, from, through, records) =>
      records.length === 0 ? stored : [...stored.slice(0, from), ...records, ...stored.slice(through + 1)],
    ),
  ),
  historyMutant("drops new records whose ids are stored", ["H59", "H60"], (_, world) =>
    replaceBy(world, (stored, from, through, records) => [
      ...stored.slice(0, from),
      ...records.filter(({ id }) => !stored.some((one) => one.id === id)),
      ...stored.slice(through + 1),
    ]),
  ),
];

/** Every defect of reading, and of rebuilding what is read. */
export const readMutants: readonly Mutant<OpenedHistoryStore>[] = [...readingMutants, ...rebuildingMutants];
