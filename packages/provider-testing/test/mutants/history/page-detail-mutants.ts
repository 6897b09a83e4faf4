import { AgentFrameworkError, type HistoryRecord, historyKeyText } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant, perWorld } from "../../support/mutant.ts";
import { otherwise } from "./detail-helpers.ts";
import { withPages } from "./helpers.ts";

const asked = perWorld(() => ({ toSkip: false, pages: 0 }));
const known = perWorld(() => new Set<string>());
const lastBatch = perWorld(() => new Map<string, readonly HistoryRecord[]>());
const appends = perWorld(() => ({ count: 0, replaces: 0 }));

/** Stores whose pages are wrong in one place. */
const pageDefects: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("gives the older pages newest first", ["H43"], (store) =>
    withPages(store, (page, options) =>
      options?.before !== undefined && options.last !== undefined
        ? { ...page, records: [...page.records].reverse() }
        : page,
    ),
  ),
  historyMutant("gives one page of nothing behind the oldest", ["H43"], (store) => ({
    read: async (key, options) => {
      if (options?.before === "the end") {
        return { records: [], version: (await store.read(key)).version };
      }
      const page = await store.read(key, options);
      return options?.last === undefined ? page : { ...page, older: page.older ?? "the end" };
    },
  })),
  historyMutant("gives cursors that are no text", ["H44"], (store) => ({
    read: async (key, options) => {
      const before = String(options?.before ?? "");
      const page = await store.read(key, before === "" ? options : { ...options, before });
      return page.older === undefined ? page : JSON.parse(JSON.stringify({ ...page, older: [page.older] }));
    },
  })),
  historyMutant("gives the cursor that it was given", ["H45"], (store) =>
    withPages(store, (page, options) => (options?.before === undefined ? page : { ...page, older: options.before })),
  ),
  historyMutant("gives no first record beside everything", ["H46"], (store) =>
    withPages(store, (page, options) => (options?.last === undefined ? { ...page, first: undefined } : page)),
  ),
  historyMutant("gives no version beside the first record", ["H46"], (store) =>
    withPages(store, (page, options) =>
      options?.withFirst && options.before === undefined ? { ...page, version: "" } : page,
    ),
  ),
  historyMutant("gives no version beside an older page", ["H46"], (store) =>
    withPages(store, (page, options) => (options?.before === undefined ? page : { ...page, version: "" })),
  ),
  historyMutant("reads at most 15 records at a time", ["H87"], (store) =>
    withPages(store, (page, options) => (options?.last === 20 ? { ...page, records: page.records.slice(-15) } : page)),
  ),
  historyMutant("moves what is repeated to the end", ["H31"], (store, world) => ({
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      lastBatch(world).set(historyKeyText(key), result.appended === 0 ? records : []);
      return result;
    },
    read: async (key, options) => {
      const page = await store.read(key, options);
      const ids = new Set(
        lastBatch(world)
          .get(historyKeyText(key))
          ?.map(({ id }) => id),
      );
      const isAgain = ({ id }: HistoryRecord) => ids.has(id);
      return {
        ...page,
        records: [...page.records.filter((one) => !isAgain(one)), ...page.records.filter(isAgain)],
      };
    },
  })),
  historyMutant(
    "calls a corrupt record one of a later version",
    ["H82"],
    (store) => ({
      read: (key, options) =>
        otherwise(store.read(key, options), "corrupt", ({ position }) => {
          throw new AgentFrameworkError("unsupported", "a later version", { position });
        }),
    }),
    { rejects: "a later version" },
  ),
  historyMutant("says that a corrupt record can be read later", ["H82"], (store) => ({
    read: (key, options) =>
      otherwise(store.read(key, options), "corrupt", ({ message, position }) => {
        throw new PassingError("corrupt", message, { position });
      }),
  })),
  historyMutant("leaves the place of a corrupt record out of every conversation", ["H82"], (store, world) =>
    withPages(store, (page) =>
      world.corrupted.size > 0 ? { ...page, records: page.records.filter((_, index) => index !== 4) } : page,
    ),
  ),
  historyMutant("skips what is corrupt ever after it was asked to", ["H84"], (store, world) => ({
    read: (key, options) => {
      asked(world).toSkip ||= options?.onCorrupt === "skip";
      return store.read(key, asked(world).toSkip ? { ...options, onCorrupt: "skip" } : options);
    },
  })),
];

/** Stores that list, trim or expire wrongly in one place. */
const limitDefects: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("gives the cursor of a list that it was given", ["H80"], (store) => ({
    list: async (filter, options) => {
      const page = await store.list(filter, options);
      return options?.cursor === undefined ? page : { ...page, cursor: options.cursor };
    },
  })),
  historyMutant("leaves out the last conversation of all where a limit is set", ["H80"], (store) => ({
    list: async (filter, options) => {
      const page = await store.list(filter, options);
      const isEnd = options?.limit !== undefined && page.cursor === undefined;
      return isEnd ? { ...page, items: page.items.slice(0, -1) } : page;
    },
  })),
  historyMutant("lists the first page alone where no limit is set", ["H80"], (store) => ({
    list: async (filter, options) => {
      const page = await store.list(filter, options);
      return options?.limit === undefined ? { items: page.items } : page;
    },
  })),
  historyMutant("lists what began during the paging twice, on a page of its own", ["H81"], (store, world) => {
    let atFirst = new Set<string>();
    return {
      list: async (filter, options) => {
        const { items } = await world.inner.list({ allOwners: true });
        const began = items.filter(({ key }) => !atFirst.has(historyKeyText(key))).slice(0, 1);
        if (options?.cursor === "began meanwhile") {
          return { items: [...began, ...began] };
        }
        atFirst = options?.cursor === undefined ? new Set(items.map(({ key }) => historyKeyText(key))) : atFirst;
        const page = await store.list(filter, options);
        const isPaging = options?.cursor !== undefined && page.cursor === undefined && began.length > 0;
        return isPaging ? { ...page, cursor: "began meanwhile" } : page;
      },
    };
  }),
  historyMutant("leaves out as many conversations as began during the paging", ["H81"], (store, world) => {
    let atFirst = 0;
    return {
      list: async (filter, options) => {
        const count = (await world.inner.list({ allOwners: true })).items.length;
        atFirst = options?.cursor === undefined ? count : atFirst;
        const page = await store.list(filter, options);
        return { ...page, items: page.items.slice(count - atFirst) };
      },
    };
  }),
  historyMutant("reads nothing of any conversation once one has expired", ["H73"], (store, world) => ({
    append: (key, records, options) => {
      known(world).add(historyKeyText(key));
      return store.append(key, records, options);
    },
    read: async (key, options) => {
      const { items } = await world.inner.list({ allOwners: true });
      const page = await store.read(key, options);
      return items.length < known(world).size ? { ...page, records: [] } : page;
    },
  })),
  historyMutant(
    "keeps with maxRecords 0 what began a conversation, until the next append",
    ["H74"],
    (store, world) => ({
      append: async (key, records, options) => {
        const isFirst = !lastBatch(world).has(historyKeyText(key));
        lastBatch(world).set(historyKeyText(key), isFirst && world.requested.maxRecords === 0 ? records : []);
        return store.append(key, records, options);
      },
      read: async (key, options) => {
        const page = await store.read(key, options);
        return { ...page, records: [...page.records, ...(lastBatch(world).get(historyKeyText(key)) ?? [])] };
      },
    }),
  ),
  historyMutant("keeps with maxRecords 0 what goes on with a conversation", ["H74"], (store, world) => ({
    append: async (key, records, options) => {
      const isFirst = !lastBatch(world).has(historyKeyText(key));
      lastBatch(world).set(historyKeyText(key), !isFirst && world.requested.maxRecords === 0 ? records : []);
      return store.append(key, records, options);
    },
    read: async (key, options) => {
      const page = await store.read(key, options);
      return { ...page, records: [...page.records, ...(lastBatch(world).get(historyKeyText(key)) ?? [])] };
    },
  })),
  historyMutant("trims at half of the limit until the limit is reached", ["H75"], (store, world) =>
    withPages(store, (page) => {
      const limit = world.requested.maxRecords ?? 0;
      return page.records.length < limit ? { ...page, records: page.records.slice(-limit / 2) } : page;
    }),
  ),
  historyMutant("gives the batches that it trimmed newest first", ["H75", "H76"], (store, world) =>
    withPages(store, (page) => {
      const isMixed = page.records[0]?.id.split("-")[0] !== page.records.at(-1)?.id.split("-")[0];
      const isBatches = page.records.some(({ id }) => id.startsWith("batch-"));
      const isFull = page.records.length === world.requested.maxRecords;
      return isFull && (isMixed || isBatches) ? { ...page, records: [...page.records].reverse() } : page;
    }),
  ),
  historyMutant("mixes up the records of one batch when it trims", ["H76"], (store, world) =>
    withPages(store, (page) => {
      const [fourth, fifth] = page.records.slice(4, 6);
      return fourth && fifth && page.records.length === world.requested.maxRecords
        ? { ...page, records: [...page.records.slice(0, 4), fifth, fourth, ...page.records.slice(6)] }
        : page;
    }),
  ),
  historyMutant("keeps the oldest records of an append that is above the limit", ["H75"], (store, world) => ({
    append: async (key, records, options) => {
      const limit = world.requested.maxRecords ?? records.length;
      const { version } = await store.append(key, records.length > 20 ? records.slice(0, limit) : records, options);
      return { version, appended: records.length };
    },
  })),
  historyMutant("drops the other conversations when it trims one", ["H75"], (store, world) => ({
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      if (records.length > (world.requested.maxRecords ?? records.length)) {
        const { items } = await world.inner.list({ allOwners: true });
        const others = items.filter((item) => historyKeyText(item.key) !== historyKeyText(key));
        await Promise.all(others.map((item) => world.inner.clear(item.key)));
      }
      return result;
    },
  })),
  historyMutant("trims a replace, and not the append behind it", ["H77"], (store, world) => ({
    replace: async (key, range, records, options) => {
      const result = await store.replace(key, range, records, options);
      appends(world).replaces += 1;
      lastBatch(world).set(historyKeyText(key), (await world.inner.read(key)).records.slice(0, 1));
      return result;
    },
    append: (key, records, options) => {
      appends(world).count += appends(world).replaces;
      return store.append(key, records, options);
    },
    read: async (key, options) => {
      const page = await store.read(key, options);
      const oldest = lastBatch(world).get(historyKeyText(key)) ?? [];
      return appends(world).count > 0 ? { ...page, records: [...oldest, ...page.records] } : page;
    },
  })),
];

/** Every store whose pages, lists or limits are wrong in one place. */
export const pageDetailMutants: readonly Mutant<OpenedHistoryStore>[] = [...pageDefects, ...limitDefects];

class PassingError extends AgentFrameworkError {
  override get retryable(): boolean {
    return true;
  }
}
