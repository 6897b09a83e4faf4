import type { HistoryRecord } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant } from "../../support/mutant.ts";
import { onAppend } from "./detail-helpers.ts";
import { withPages } from "./helpers.ts";

const GREETING = { id: "greeting", data: '"hello"' };

/** Stores that answer wrongly in one place. */
export const answerDetailMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("declares no contract", ["H01"], () => JSON.parse('{"contractVersion":0}')),
  historyMutant("declares processes in words of its own", ["H01"], (store) => ({
    capabilities: JSON.parse(JSON.stringify({ ...store.capabilities, processes: "several" })),
  })),
  historyMutant("declares a limit of 1,000 bytes", ["H01"], (store) => ({
    capabilities: { ...store.capabilities, maxRecordBytes: 1_000 },
  })),
  historyMutant("declares ttl in words", ["H01"], (store) => ({
    capabilities: JSON.parse(JSON.stringify({ ...store.capabilities, ttl: "yes" })),
  })),
  historyMutant(
    "reads a greeting in an unknown conversation",
    ["H02", "H16", "H40", "H49", "H50", "H67", "H71", "H84"],
    (store) => withPages(store, (page) => (page.version === "" ? { ...page, records: [GREETING] } : page)),
  ),
  historyMutant("gives a cursor into an unknown conversation", ["H02"], (store) =>
    withPages(store, (page) => (page.version === "" ? { ...page, older: "0" } : page)),
  ),
  historyMutant("gives a first record of an unknown conversation", ["H02", "H71"], (store) =>
    withPages(store, (page, options) =>
      page.version === "" && options?.withFirst ? { ...page, first: GREETING } : page,
    ),
  ),
  historyMutant("gives a cursor with everything", ["H03", "H44", "H75"], (store) =>
    withPages(store, (page, options) =>
      options?.last === undefined && page.records.length > 0 ? { ...page, older: "0" } : page,
    ),
  ),
  historyMutant("gives a cursor with the last of the pages", ["H44"], (store) =>
    withPages(store, (page, options) => (options?.before === undefined ? page : { ...page, older: page.older ?? "0" })),
  ),
  historyMutant("gives no cursor when one record is left", ["H83"], (store, world) => ({
    read: async (key, options) => {
      const page = await store.read(key, options);
      const all = await world.inner.read(key);
      return all.records[1]?.id === page.records[0]?.id ? { ...page, older: undefined } : page;
    },
  })),
  historyMutant("reads the last of the pages as empty", ["H44"], (store) =>
    withPages(store, (page, options) =>
      options?.before !== undefined && page.older === undefined ? { ...page, records: [] } : page,
    ),
  ),
  historyMutant("gives a page of five before a cursor where no size was asked for", ["H43"], (store) => ({
    read: (key, options) =>
      store.read(key, options?.before !== undefined && options.last === undefined ? { ...options, last: 5 } : options),
  })),
  historyMutant("gives as the first record the first of the page", ["H54", "H57", "H75"], (store) =>
    withPages(store, (page, options) => (options?.withFirst ? { ...page, first: page.records[0] } : page)),
  ),
  historyMutant("gives as the first record the first of an older page", ["H46"], (store) =>
    withPages(store, (page, options) =>
      options?.withFirst && options.before !== undefined ? { ...page, first: page.records[0] } : page,
    ),
  ),
  historyMutant("puts the first record in front of the page", ["H46", "H54"], (store) =>
    withPages(store, (page, options) =>
      options?.withFirst && page.first && page.records[0]?.id !== page.first.id
        ? { ...page, records: [page.first, ...page.records] }
        : page,
    ),
  ),
  historyMutant("parses and prints the data of a page", ["H22"], (store) =>
    withPages(store, (page, options) => (options?.last === undefined ? page : printed(page))),
  ),
  historyMutant("parses and prints data when it reads everything", ["H22"], (store) =>
    withPages(store, (page, options) => (options?.last === undefined ? printed(page) : page)),
  ),
  historyMutant("cuts large data off when it reads everything", ["H21", "H23"], (store) =>
    withPages(store, (page, options) => (options?.last === undefined ? cut(page) : page)),
  ),
  historyMutant("cuts large data off in a page", ["H23"], (store) =>
    withPages(store, (page, options) => (options?.last === undefined ? page : cut(page))),
  ),
  historyMutant("reads the newest of the first 10,000 records", ["H05"], (store) => ({
    read: async (key, options) => {
      const page = await store.read(key, options);
      const { records } = options?.last === undefined ? page : await store.read(key);
      return records.length > 10_000 && options?.last !== undefined
        ? { ...page, records: records.slice(0, 10_000).slice(-options.last) }
        : page;
    },
  })),
  historyMutant(
    "says of every append that it appended one record",
    [
      "H03",
      "H05",
      "H06",
      "H20",
      "H27",
      "H28",
      "H29",
      "H30",
      "H31",
      "H32",
      "H33",
      "H34",
      "H35",
      "H38",
      "H50",
      "H52",
      "H54",
      "H62",
      "H71",
      "H72",
      "H74",
      "H75",
      "H89",
    ],
    (store, world) => onAppend(store, world, (result) => ({ ...result, appended: 1 })),
  ),
  historyMutant("says of every append that it appended nothing", ["H09", "H54", "H62", "H84"], (store, world) =>
    onAppend(store, world, (result) => ({ ...result, appended: 0 })),
  ),
  historyMutant("counts an append of nothing to an unknown conversation as one", ["H04"], (store, world) =>
    onAppend(store, world, (result, records, before) =>
      records.length === 0 && before.version === "" ? { ...result, appended: 1 } : result,
    ),
  ),
  historyMutant("counts an append of nothing to what is there as one", ["H04"], (store, world) =>
    onAppend(store, world, (result, records, before) =>
      records.length === 0 && before.version !== "" ? { ...result, appended: 1 } : result,
    ),
  ),
  historyMutant("gives a version of nothing to an unknown conversation", ["H04"], (store, world) =>
    onAppend(store, world, (result, records, before) =>
      records.length === 0 && before.version === "" ? { ...result, version: "0" } : result,
    ),
  ),
  historyMutant("gives another version for an append of nothing", ["H04"], (store, world) =>
    onAppend(store, world, (result, records, before) =>
      records.length === 0 && before.version !== "" ? { ...result, version: "0" } : result,
    ),
  ),
  historyMutant("gives a new version for what was stored already", ["H30", "H33", "H62"], (store, world) =>
    onAppend(store, world, (result, records) =>
      result.appended === 0 && records.length > 0 ? { ...result, version: crypto.randomUUID() } : result,
    ),
  ),
  historyMutant(
    "gives one version for everything that it appends",
    ["H12", "H24", "H30", "H39", "H52", "H66", "H71"],
    (store, world) => onAppend(store, world, (result) => ({ ...result, version: "appended" })),
  ),
  historyMutant("has one version for everything", ["H06", "H54", "H66"], (store, world) => ({
    ...onAppend(store, world, (result) => ({ ...result, version: "1" })),
    ...withPages(store, (page) => ({ ...page, version: page.version && "1" })),
  })),
  historyMutant("reads a version that no call gave", ["H06", "H34", "H40", "H41"], (store) =>
    withPages(store, (page) => ({ ...page, version: page.version && `read ${page.version}` })),
  ),
  historyMutant("gives a version with replace that is never read", ["H65"], (store) => ({
    replace: async (...given) => ({ version: `replaced ${(await store.replace(...given)).version}` }),
  })),
];

function printed<T extends { readonly records: readonly HistoryRecord[] }>(page: T): T {
  return { ...page, records: page.records.map(({ id, data }) => ({ id, data: JSON.stringify(JSON.parse(data)) })) };
}

function cut<T extends { readonly records: readonly HistoryRecord[] }>(page: T): T {
  return { ...page, records: page.records.map(({ id, data }) => ({ id, data: data.slice(0, 400_000) })) };
}
