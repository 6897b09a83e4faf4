import {
  AgentFrameworkError,
  type HistoryKey,
  type HistoryList,
  type HistoryListFilter,
  type HistoryStore,
  historyKeyText,
} from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant, perWorld } from "../../support/mutant.ts";

const everListed = perWorld(() => new Map<string, HistoryKey>());

/** A store with one of its calls changed by what `change` makes of its rejection. */
function onError(store: Required<HistoryStore>, change: (error: unknown) => unknown): Partial<HistoryStore> {
  const changed = <T>(call: Promise<T>): Promise<T> =>
    call.catch((error: unknown) => {
      throw change(error);
    });
  return {
    append: (key, records, options) => changed(store.append(key, records, options)),
    read: (key, options) => changed(store.read(key, options)),
    clear: (key, options) => changed(store.clear(key, options)),
    replace: (key, range, records, options) => changed(store.replace(key, range, records, options)),
    list: (filter, options) => changed(store.list(filter, options)),
  };
}

function isInvented(cursor: unknown): boolean {
  return typeof cursor === "string" && !cursor.startsWith("[");
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof AgentFrameworkError && codes.includes(error.code);
}

/** Defects around outages and callers that leave. */
const outageMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("reads an outage as an empty conversation", ["H08", "H09", "H10"], (store) => ({
    read: (key, options) =>
      store.read(key, options).catch((error: unknown) => {
        if (isCode(error, "unavailable")) {
          return { records: [], version: "" };
        }
        throw error;
      }),
  })),
  historyMutant("drops writes during an outage and says nothing", ["H08", "H10"], (store) => ({
    append: (key, records, options) =>
      store.append(key, records, options).catch((error: unknown) => {
        if (isCode(error, "unavailable")) {
          return { version: "later", appended: records.length };
        }
        throw error;
      }),
  })),
  historyMutant(
    "passes the driver's own error on",
    ["H08"],
    (store) => onError(store, (error) => (isCode(error, "unavailable") ? new Error("connect ECONNREFUSED") : error)),
    { rejects: "connect ECONNREFUSED" },
  ),
  historyMutant(
    "keeps a connection that has ended",
    ["H09"],
    (store) => {
      let used = false;
      let dead = false;
      const check = async <T>(call: () => Promise<T>): Promise<T> => {
        if (dead) {
          throw new AgentFrameworkError("unavailable", "the connection has ended");
        }
        try {
          const result = await call();
          used = true;
          return result;
        } catch (error) {
          dead = used && isCode(error, "unavailable");
          throw error;
        }
      };
      return {
        append: (key, records, options) => check(() => store.append(key, records, options)),
        read: (key, options) => check(() => store.read(key, options)),
      };
    },
    { spares: ["H08", "H10"], rejects: "the connection has ended" },
  ),
  historyMutant(
    "remembers that its first connection failed",
    ["H10"],
    (store) => {
      let ready: Promise<unknown> | undefined;
      return {
        append: async (key, records, options) => {
          ready ??= store.read({ ...key, session: "probe" });
          await ready;
          return store.append(key, records, options);
        },
      };
    },
    { spares: ["H08", "H09"], rejects: "connection refused" },
  ),
  historyMutant("waits for an answer for ever", ["H11"], (store, world) => ({
    read: async (key, options) => {
      while (world.stalled) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return store.read(key, options);
    },
  })),
  historyMutant(
    "reads a timeout as an empty conversation",
    ["H11"],
    (store) => ({
      read: (key, options) =>
        store.read(key, options).catch((error: unknown) => {
          if (isCode(error, "timeout")) {
            return { records: [], version: "" };
          }
          throw error;
        }),
    }),
    { spares: ["H08"] },
  ),
  historyMutant("does not look at the signal", ["H12"], (store) => ({
    append: (key, records, options) => store.append(key, records, { ...options, signal: undefined }),
  })),
  historyMutant("looks at the signal after the work is done", ["H12"], (store) => ({
    append: async (key, records, options) => {
      const result = await store.append(key, records, { ...options, signal: undefined });
      options?.signal?.throwIfAborted();
      return result;
    },
  })),
  historyMutant("stops in the middle of an append when it is aborted", ["H13"], (store) => ({
    append: async (key, records, options) => {
      let result = { version: "", appended: 0 };
      for (const one of records) {
        options?.signal?.throwIfAborted();
        const { version, appended } = await store.append(key, [one], { ifVersion: options?.ifVersion });
        result = { version, appended: result.appended + appended };
      }
      return result;
    },
  })),
];

/** Defects of list. */
const listMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("lists everybody's conversations when no owner is named", ["H78"], (store) => ({
    list: (filter, options) =>
      store.list(
        typeof filter === "object" && filter !== null && ("owner" in filter || "allOwners" in filter)
          ? filter
          : { allOwners: true },
        options,
      ),
  })),
  historyMutant("lists everybody's conversations where allOwners is there and false", ["H78"], (store) => ({
    list: (filter, options) =>
      store.list(
        typeof filter === "object" && "owner" in filter && "allOwners" in filter ? { allOwners: true } : filter,
        options,
      ),
  })),
  historyMutant("lists nothing where it does not declare list", ["H78"], (store) => ({
    capabilities: { ...store.capabilities, list: false },
    list: async () => ({ items: [] }),
  })),
  historyMutant("lists owners whose names begin alike", ["H79"], (store) => ({
    list: async (filter, options) => {
      if (!("owner" in filter) || filter.owner === null || filter.owner === undefined) {
        return store.list(filter, options);
      }
      const { owner, source } = filter;
      const { items } = await store.list({ allOwners: true, source }, { ...options, limit: 10_000, cursor: undefined });
      return { items: items.filter(({ key }) => key.owner?.startsWith(owner)) };
    },
  })),
  historyMutant('lists no owner and the owner "" as one', ["H79"], (store) => ({
    list: async (filter, options) => {
      const page = await store.list(filter, options);
      const isNone = "owner" in filter && filter.owner === null;
      const more = isNone ? await store.list({ owner: "", source: filter.source }) : { items: [] };
      return { ...page, items: [...page.items, ...more.items] };
    },
  })),
  historyMutant("gives the last key of a page again on the next", ["H80"], (store) => {
    let last: HistoryList["items"] = [];
    return {
      list: async (filter, options) => {
        const page = await store.list(filter, options);
        const repeated = options?.cursor === undefined ? [] : last;
        last = page.items.slice(-1);
        return { ...page, items: [...repeated, ...page.items].slice(0, options?.limit ?? 100) };
      },
    };
  }),
  historyMutant("does not keep to the limit of a list", ["H80"], (store) => ({
    list: (filter: HistoryListFilter, options) =>
      store.list(filter, {
        ...options,
        limit: options?.limit === undefined || !(options.limit >= 1) ? options?.limit : 1_000,
      }),
  })),
  historyMutant("begins a list again at a cursor that it never gave", ["H80"], (store) => ({
    list: (filter, options) =>
      store.list(filter, isInvented(options?.cursor) ? { ...options, cursor: undefined } : options),
  })),
  historyMutant("keeps cleared conversations in its index", ["H81"], (store, world) => ({
    append: async (key, records, options) => {
      everListed(world).set(historyKeyText(key), key);
      return store.append(key, records, options);
    },
    list: async (filter, options) => {
      const page = await store.list(filter, options);
      const listed = new Set(page.items.map(({ key }) => historyKeyText(key)));
      const gone = [...everListed(world)].filter(([text]) => !listed.has(text)).map(([, key]) => ({ key }));
      return page.cursor === undefined && options?.cursor === undefined ? { items: [...page.items, ...gone] } : page;
    },
  })),
];

/** Defects around corrupt records, clients and messages. */
const otherMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("skips what it cannot read, without being asked to", ["H82"], (store) => ({
    read: (key, options) => store.read(key, { ...options, onCorrupt: "skip" }),
  })),
  historyMutant("does not say where the corrupt record is", ["H82"], (store) =>
    onError(store, (error) => (isCode(error, "corrupt") ? new AgentFrameworkError("corrupt", "bad data") : error)),
  ),
  historyMutant("skips corrupt records and does not report them", ["H83"], (store) => ({
    read: async (key, options) => {
      const { corrupt: _, ...page } = await store.read(key, options);
      return page;
    },
  })),
  historyMutant("gives nothing when one of its records is corrupt", ["H83"], (store) => ({
    read: async (key, options) => {
      const page = await store.read(key, options);
      return (page.corrupt?.length ?? 0) > 0 ? { ...page, records: [] } : page;
    },
  })),
  historyMutant(
    "deletes the corrupt records that it skips",
    ["H84"],
    (store, world) => ({
      read: async (key, options) => {
        const page = await store.read(key, options);
        for (const id of world.corrupted.get(historyKeyText(key)) ?? []) {
          if (options?.onCorrupt === "skip" && options.last === undefined) {
            await world.inner.replace(key, { fromId: id, throughId: id }, []);
          }
        }
        return page;
      },
    }),
    { spares: ["H82"], rejects: "the record is no longer stored" },
  ),
  historyMutant("closes a client that was passed in", ["H85"], (_, world) => ({
    close: async () => {
      world.isClientOpen = false;
    },
  })),
  historyMutant("puts the whole call into its error messages", ["H86"], (store) => ({
    append: (key, records, options) =>
      store.append(key, records, options).catch((error: unknown) => {
        throw error instanceof AgentFrameworkError
          ? new AgentFrameworkError(error.code, `${error.message}: ${JSON.stringify({ key, records })}`, error)
          : error;
      }),
  })),
];

/** Every defect around outages, listings, corrupt records and clients. */
export const boundaryMutants: readonly Mutant<OpenedHistoryStore>[] = [
  ...outageMutants,
  ...listMutants,
  ...otherMutants,
];
