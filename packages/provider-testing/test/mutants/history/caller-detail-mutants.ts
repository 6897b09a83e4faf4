import {
  AgentFrameworkError,
  type HistoryKey,
  type HistoryPage,
  type HistoryStore,
  historyKeyText,
} from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant, perWorld } from "../../support/mutant.ts";
import { otherwise } from "./detail-helpers.ts";
import { withKeys, withPages } from "./helpers.ts";

const written = perWorld(() => ({ isWritten: false }));

/** Stores that take one thing wrongly that a caller passes. */
const inputDefects: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("acknowledges an append to a key that is none", ["H14"], (store) => ({
    append: (key, records, options) =>
      otherwise(store.append(key, records, options), "configuration", (error) =>
        typeof key === "object" && key !== null && !Array.isArray(key) ? error : { version: "0", appended: 0 },
      ),
  })),
  historyMutant("clears the sessions of that name in every source", ["H15"], (store) => ({
    clear: async (key, options) => {
      await store.clear(key, options);
      await store.clear({ ...key, source: "audit" }, options);
    },
  })),
  historyMutant("trims owners", ["H16"], (store) =>
    withKeys(store, (key) => (key.owner?.trim() ? { ...key, owner: key.owner.trim() } : key)),
  ),
  historyMutant("keeps sources without regard to case", ["H16"], (store) =>
    withKeys(store, (key) => ({ ...key, source: key.source.toLowerCase() })),
  ),
  historyMutant("replaces in the session of that name in another Unicode form", ["H15"], (store) => ({
    replace: ({ session, ...key }, range, records, options) =>
      store.replace({ ...key, session: session.normalize("NFC") }, range, records, options),
  })),
  historyMutant("replaces for the owner of that name in another Unicode form", ["H16"], (store) => ({
    replace: ({ owner, ...key }, range, records, options) =>
      store.replace({ ...key, owner: owner === null ? null : owner.normalize("NFC") }, range, records, options),
  })),
  historyMutant(
    "does not look whether there is a key before it clears",
    ["H14"],
    (store) => ({
      clear: async (key, options) => store.clear({ ...conversationOf(key) }, options),
    }),
    { rejects: "no such key" },
  ),
  historyMutant("takes no records for an empty list of them", ["H19"], (store) => ({
    append: (key, records, options) => store.append(key, records ?? [], options),
  })),
  historyMutant("acknowledges an append with a record that is too large", ["H20"], (store) => ({
    append: (key, records, options) =>
      otherwise(store.append(key, records, options), "too_large", () => ({ version: "0", appended: records.length })),
  })),
  historyMutant("reads with options that are none as if there were none", ["H88"], (store) => ({
    read: (key, options) => store.read(key, typeof options === "object" && options !== null ? options : undefined),
  })),
  historyMutant("acknowledges an append under a version that is no text", ["H88"], (store) => ({
    append: (key, records, options) =>
      otherwise(store.append(key, records, options), "configuration", (error) =>
        isNoText(options?.ifVersion) ? { version: "0", appended: 0 } : error,
      ),
  })),
  historyMutant("acknowledges a replace under a version that is no text", ["H88"], (store) => ({
    replace: (key, range, records, options) =>
      otherwise(store.replace(key, range, records, options), "configuration", (error) =>
        isNoText(options?.ifVersion) ? { version: "0" } : error,
      ),
  })),
  historyMutant(
    "passes on what its parser throws",
    ["H86"],
    (store) => ({
      append: (key, records, options) =>
        otherwise(store.append(key, records, options), "configuration", () => {
          throw new SyntaxError("the parser met a stranger");
        }),
    }),
    { rejects: "the parser met a stranger" },
  ),
  historyMutant(
    "says that its server is busy when there is a conversation already",
    ["H37", "H39"],
    (store) => ({
      append: (key, records, options) =>
        otherwise(store.append(key, records, options), "conflict", (error) =>
          options?.ifVersion === "" ? busyAt(error) : error,
        ),
    }),
    { rejects: "the server is busy" },
  ),
  historyMutant(
    "says that its server is busy when an append comes behind another",
    ["H65"],
    (store) => ({
      append: (key, records, options) => otherwise(store.append(key, records, options), "conflict", busyAt),
    }),
    { rejects: "the server is busy" },
  ),
  historyMutant(
    "says that its server is busy when a replace comes behind another write",
    ["H65"],
    (store) => ({
      replace: (...given) => otherwise(store.replace(...given), "conflict", busyAt),
    }),
    { rejects: "the server is busy" },
  ),
  historyMutant("appends also to the conversation that the key names later", ["H26"], (store) => ({
    append: async (key, records, options) => {
      const [now, mine] = [{ ...key }, records.map((one) => ({ ...one }))];
      const result = await store.append(key, records, options);
      await (historyKeyText(now) !== historyKeyText(key) && store.append(key, mine));
      return result;
    },
  })),
  historyMutant("replaces also in the conversation that the key names later", ["H26"], (store) => ({
    replace: async (key, range, records, options) => {
      const [now, run, mine] = [{ ...key }, { ...range }, records.map((one) => ({ ...one }))];
      const result = await store.replace(key, range, records, options);
      await (historyKeyText(now) !== historyKeyText(key) && store.replace(key, run, mine));
      return result;
    },
  })),
  historyMutant("looks at last only after one await", ["H26"], (store) => ({
    read: async (key, options) => {
      const [now, given] = [{ ...key }, { ...options }];
      await Promise.resolve();
      return store.read(now, { ...given, last: options?.last });
    },
  })),
  historyMutant("looks at withFirst only after one await", ["H26"], (store) => ({
    read: async (key, options) => {
      const [now, given] = [{ ...key }, { ...options }];
      await Promise.resolve();
      return store.read(now, { ...given, withFirst: options?.withFirst });
    },
  })),
];

/** Stores that go by what their own process knows, in one place. */
const processDefects: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("reads a greeting until something is stored", ["H52"], (store, world) => ({
    append: (key, records, options) => {
      written(world).isWritten = true;
      return store.append(key, records, options);
    },
    ...withPages(store, (page) =>
      written(world).isWritten ? page : { ...page, records: [{ id: "greeting", data: '"hello"' }] },
    ),
  })),
  historyMutant("remembers that a conversation was empty until it writes to it", ["H52"], (store) => {
    const empty = new Set<string>();
    return {
      ...onWrites(store, (key) => empty.delete(key)),
      read: async (key, options) => {
        const page = await store.read(key, options);
        const records = empty.has(historyKeyText(key)) ? [] : page.records;
        empty.add(records.length === 0 ? historyKeyText(key) : "");
        return { ...page, records };
      },
    };
  }),
  historyMutant("reads what it appended itself as long as there is a conversation", ["H52"], (store) =>
    cachedOwn(store, (own, page) => (page.records.length > 0 ? own : page)),
  ),
  historyMutant("reads what it appended itself when there is no conversation", ["H52"], (store) =>
    cachedOwn(store, (own, page) => (page.records.length === 0 ? own : page)),
  ),
];

/** Every store that takes one thing wrongly from a caller or from its own process. */
export const callerDetailMutants: readonly Mutant<OpenedHistoryStore>[] = [...inputDefects, ...processDefects];

/** As a driver reads it, which knows of no bad input. */
function conversationOf(key: HistoryKey): HistoryKey {
  if (typeof key !== "object" || key === null || Array.isArray(key)) {
    throw new TypeError("no such key");
  }
  return key;
}

function isNoText(value: unknown): boolean {
  return value !== undefined && typeof value !== "string";
}

function busyAt({ currentVersion }: AgentFrameworkError): AgentFrameworkError {
  return new AgentFrameworkError("unavailable", "the server is busy", { currentVersion });
}

function onWrites(store: HistoryStore, note: (key: string) => unknown): Partial<HistoryStore> {
  return {
    append: (key, records, options) => {
      note(historyKeyText(key));
      return store.append(key, records, options);
    },
    clear: (key, options) => {
      note(historyKeyText(key));
      return store.clear(key, options);
    },
  };
}

/** A store that keeps the page behind its own last append, and reads what `choose` makes of it. */
function cachedOwn(
  store: HistoryStore,
  choose: (own: HistoryPage, page: HistoryPage) => HistoryPage,
): Partial<HistoryStore> {
  const pages = new Map<string, HistoryPage>();
  return {
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      pages.set(historyKeyText(key), await store.read(key));
      return result;
    },
    clear: (key, options) => {
      pages.delete(historyKeyText(key));
      return store.clear(key, options);
    },
    read: async (key, options) => {
      const page = await store.read(key, options);
      const own = pages.get(historyKeyText(key));
      return own === undefined ? page : choose(own, page);
    },
  };
}
