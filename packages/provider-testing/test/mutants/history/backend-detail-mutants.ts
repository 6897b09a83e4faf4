import { type HistoryKey, type HistoryPage, historyKeyText } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant, type MutantOptions, perWorld } from "../../support/mutant.ts";
import { otherwise } from "./detail-helpers.ts";
import { withPages } from "./helpers.ts";

const oldFirsts = perWorld(() => new Map<string, HistoryPage["first"]>());
const versions = perWorld(() => new Map<string, string>());

/** Opened with a limit that `change` makes of the one that was asked for. */
function limited(change: (maxRecords: number) => number | undefined): MutantOptions {
  return {
    adjust: ({ maxRecords, ...rest }) =>
      maxRecords === undefined ? rest : { ...rest, maxRecords: change(maxRecords) },
  };
}

/** Stores that do something wrong in one place when a record, a connection or a limit is in the way. */
export const backendDetailMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("does not say where a skipped record was", ["H83"], (store) =>
    withPages(store, (page) => (page.corrupt ? { ...page, corrupt: page.corrupt.map(() => "") } : page)),
  ),
  historyMutant("reports a position for a sound conversation", ["H83"], (store) =>
    withPages(store, (page, options) =>
      options?.onCorrupt === "skip" ? { ...page, corrupt: page.corrupt ?? ["0"] } : page,
    ),
  ),
  historyMutant("reports a skipped record twice", ["H84"], (store) =>
    withPages(store, (page) => (page.corrupt ? { ...page, corrupt: [...page.corrupt, ...page.corrupt] } : page)),
  ),
  historyMutant("skips the record in front of a corrupt one, too", ["H84"], (store) =>
    withPages(store, (page) => (page.corrupt ? { ...page, records: page.records.slice(1) } : page)),
  ),
  historyMutant("ends a page at a corrupt record when it skips", ["H83"], (store) =>
    withPages(store, (page) => (page.corrupt ? { ...page, records: page.records.slice(0, 2) } : page)),
  ),
  historyMutant("reads from a cache what it appended itself until it clears", ["H37", "H65", "H92"], (store, world) => {
    const pages = new Map<string, HistoryPage>();
    return {
      append: async (key, records, options) => {
        const isFirst = (await world.inner.read(key)).version === "";
        const result = await store.append(key, records, options);
        if (isFirst) {
          pages.set(historyKeyText(key), await world.inner.read(key));
        }
        return result;
      },
      clear: (key, options) => {
        pages.delete(historyKeyText(key));
        return store.clear(key, options);
      },
      read: async (key, options) =>
        (options === undefined && pages.get(historyKeyText(key))) || store.read(key, options),
    };
  }),
  historyMutant("remembers that there was nothing until it clears", ["H26", "H39", "H52"], (store) => {
    const unknown = new Map<string, HistoryPage>();
    return {
      clear: async (key, options) => {
        await store.clear(key, options);
        unknown.set(historyKeyText(key), { records: [], version: "" });
      },
      read: async (key, options) => unknown.get(historyKeyText(key)) ?? store.read(key, options),
    };
  }),
  historyMutant("stores half of an append whose request was lost", ["H92"], (store, world) => ({
    append: (key, records, options) => {
      const isLost = world.fault === "lost request";
      return otherwise(store.append(key, records, options), "unavailable", (error) => {
        void (isLost && world.inner.append(key, records.slice(0, 1)));
        return error;
      });
    },
  })),
  historyMutant("invents a version when the reply to an append was lost", ["H89"], (store) => ({
    append: (key, records, options) =>
      otherwise(store.append(key, records, options), "outcome_unknown", () => ({
        version: "unknown",
        appended: records.length,
      })),
  })),
  historyMutant(
    "takes any maxRecords",
    ["H74"],
    () => ({}),
    limited((limit) => (limit >= 0 && Number.isInteger(limit) ? limit : undefined)),
  ),
  historyMutant("gives as the first record one that was trimmed", ["H58"], (store, world) => ({
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      const firsts = oldFirsts(world);
      firsts.set(
        historyKeyText(key),
        firsts.get(historyKeyText(key)) ?? (Array.isArray(records) ? records[0] : undefined),
      );
      return result;
    },
    read: async (key, options) => {
      const page = await store.read(key, options);
      const first = oldFirsts(world).get(historyKeyText(key));
      return options?.withFirst && page.first ? { ...page, first: first ?? page.first } : page;
    },
  })),
  historyMutant("takes a limit of a list that makes no sense for the default", ["H80"], (store) => ({
    list: (filter, options) =>
      store.list(
        filter,
        typeof options?.limit === "number" && !(options.limit >= 1 && Number.isInteger(options.limit))
          ? { ...options, limit: undefined }
          : options,
      ),
  })),
  historyMutant("lists one conversation more than the limit", ["H81"], (store) => ({
    list: (filter, options) =>
      store.list(
        filter,
        options?.limit !== undefined && options.limit >= 1 ? { ...options, limit: options.limit + 1 } : options,
      ),
  })),
  historyMutant("gives a cursor behind the last conversation", ["H73"], (store) => ({
    list: async (filter, options) => {
      const page = await store.list(filter, options);
      return page.items.length > 0 && options?.cursor === undefined
        ? { ...page, cursor: page.cursor ?? "999999" }
        : page;
    },
  })),
  historyMutant("gives the version of an expired conversation", ["H71"], (store, world) => ({
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      versions(world).set(historyKeyText(key), result.version);
      return result;
    },
    read: async (key, options) => {
      const page = await store.read(key, options);
      return { ...page, version: page.version || remembered(world, key) };
    },
  })),
];

function remembered(world: object, key: HistoryKey): string {
  return versions(world).get(historyKeyText(key)) ?? "";
}
