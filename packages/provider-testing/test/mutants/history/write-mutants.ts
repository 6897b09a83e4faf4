import { AgentFrameworkError, type HistoryKey, type HistoryRecord, historyKeyText } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant, perWorld, queue } from "../../support/mutant.ts";
import { turn } from "../../support/world.ts";
import { dedupeBy, withPages } from "./helpers.ts";

const sharedQueue = perWorld(queue);
const knownIds = perWorld(() => new Map<string, Set<string>>());
const attempts = perWorld(() => ({ count: 0 }));

/** Defects of append, of ids and of what is inside a record. */
export const writeMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("declares a window of 100 ids", ["H01"], (store) => ({
    capabilities: { ...store.capabilities, dedupe: 100 },
  })),
  historyMutant("makes a conversation when an unknown one is read", ["H02"], (store) =>
    withPages(store, (page) => ({ ...page, version: page.version || "0" })),
  ),
  historyMutant("gives the newest record first, as a list that is pushed from the left", ["H03"], (store) =>
    withPages(store, (page) => ({ ...page, records: [...page.records].reverse() })),
  ),
  historyMutant("orders equal timestamps by id", ["H03"], (store) =>
    withPages(store, (page) => ({
      ...page,
      records: [...page.records].sort((left, right) => (left.id < right.id ? -1 : 1)),
    })),
  ),
  historyMutant("gives an empty append a version of its own", ["H04"], (store) => ({
    append: async (key, records, options) =>
      records.length === 0 ? { version: crypto.randomUUID(), appended: 0 } : store.append(key, records, options),
  })),
  historyMutant("writes a large append in chunks, each a transaction", ["H05"], (store) => ({
    append: async (key, records, options) => {
      let result = { version: "", appended: 0 };
      for (let start = 0; start === 0 || start < records.length; start += 1_000) {
        const { version, appended } = await store.append(key, records.slice(start, start + 1_000), options);
        result = { version, appended: result.appended + appended };
      }
      return result;
    },
  })),
  historyMutant("adds records one by one", ["H06"], (store) => ({
    append: (key, records, options) => oneByOne(store.append, key, records, options),
  })),
  historyMutant(
    "adds records one by one, under a lock inside the process",
    ["H07"],
    (store) => {
      const inOrder = queue();
      return {
        append: (key, records, options) => inOrder(() => oneByOne(store.append, key, records, options)),
      };
    },
    { spares: ["H06"] },
  ),
  historyMutant("reads the whole list, adds to it and writes it back", ["H06", "H25"], (store, world) => ({
    append: async (key, records) => {
      const { records: stored } = await store.read(key);
      await turn();
      await world.inner.clear(key);
      const { version } = await world.inner.append(key, [...stored, ...records]);
      return { version, appended: records.length };
    },
  })),
  historyMutant("defaults a missing session, source and owner", ["H14"], (store) => ({
    append: (key, records) => store.append(defaulted(key), records),
    read: (key, options) => store.read(defaulted(key), options),
    clear: (key) => store.clear(defaulted(key)),
  })),
  historyMutant("stores any text as data", ["H18"], (store) => ({
    append: (key, records, options) =>
      store.append(
        key,
        records.map(({ id, data }) => ({ id, data: isJson(data) ? data : JSON.stringify(String(data)) })),
        options,
      ),
  })),
  historyMutant("makes up missing ids and drops repeated ones", ["H19"], (store) => ({
    append: (key, records, options) => {
      const named = records.map(({ id, data }) => ({ id: id ? String(id) : crypto.randomUUID(), data }));
      return store.append(key, [...new Map(named.map((one) => [one.id, one])).values()], options);
    },
  })),
  historyMutant("counts the size of a record in UTF-16 units", ["H20"], (store, world) => ({
    append: (key, records, options) =>
      records.some(({ data }) => data.length > store.capabilities.maxRecordBytes)
        ? store.append(key, records, options)
        : world.inner.append(key, records, options),
  })),
  historyMutant("leaves out records that are too large and stores the rest", ["H20"], (store) => ({
    append: async (key, records, options) => {
      const fits = (one: HistoryRecord) => Buffer.byteLength(one.data) <= store.capabilities.maxRecordBytes;
      await store.append(key, records.filter(fits), options);
      return store.append(key, records, options);
    },
  })),
  historyMutant(
    "refuses a record of exactly the declared size",
    ["H21"],
    (store) => ({
      append: async (key, records, options) => {
        if (records.some(({ data }) => Buffer.byteLength(String(data)) >= store.capabilities.maxRecordBytes)) {
          throw new AgentFrameworkError("too_large", "records: at the limit");
        }
        return store.append(key, records, options);
      },
    }),
    { rejects: "at the limit" },
  ),
  historyMutant("keeps data in a column that parses and prints JSON", ["H22"], (store) =>
    withPages(store, (page) => ({
      ...page,
      records: page.records.map(({ id, data }) => ({ id, data: JSON.stringify(JSON.parse(data)) })),
    })),
  ),
  historyMutant("decodes each chunk of a large record on its own", ["H23"], (store) => ({
    append: (key, records, options) =>
      store.append(
        key,
        Array.isArray(records) ? records.map(({ id, data }) => ({ id, data: throughChunks(data) })) : records,
        options,
      ),
  })),
  historyMutant("reads only the newest segment, of 200 records", ["H24"], (store) =>
    withPages(store, (page, options) =>
      options?.last === undefined ? { ...page, records: page.records.slice(-200) } : page,
    ),
  ),
  historyMutant("keeps the key of the current call on the instance", ["H25"], (store) => {
    let current: HistoryKey;
    return {
      append: async (key, records, options) => {
        current = key;
        await turn();
        return store.append(current, records, options);
      },
    };
  }),
  historyMutant("hands out its cached page to everyone", ["H26"], (store) => {
    const cache = new Map<string, Awaited<ReturnType<typeof store.read>>>();
    return {
      read: async (key, options) => {
        const page = await store.read(key, options);
        const name = `${historyKeyText(key)} ${JSON.stringify(options ?? {})} ${page.version}`;
        const cached = cache.get(name) ?? { ...page, records: page.records.map((one) => ({ ...one })) };
        cache.set(name, cached);
        return cached;
      },
    };
  }),
  historyMutant("does not compare ids", ["H27", "H31"], (store) => dedupeBy(store, () => false)),
  historyMutant("skips the whole append when one of its ids is stored", ["H28"], (store) => ({
    append: async (key, records, options) => {
      const { records: stored, version } = await store.read(key);
      const known = stored.some(({ id }) => records.some((one) => one.id === id));
      return known ? { version, appended: 0 } : store.append(key, records, options);
    },
  })),
  historyMutant("overwrites the data under a stored id", ["H28"], (store) => ({
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      const { records: stored } = await store.read(key);
      for (const one of records.filter(({ id, data }) => stored.some((old) => old.id === id && old.data !== data))) {
        await store.replace(key, { fromId: one.id, throughId: one.id }, [one]);
      }
      return result;
    },
  })),
  historyMutant("takes records with equal data for one", ["H29"], (store) => ({
    append: async (key, records, options) => {
      const { records: stored } = await store.read(key);
      const seen = new Set(stored.map(({ data }) => data));
      const fresh = records.filter(({ id, data }) => stored.some((one) => one.id === id) || !seen.has(data));
      return store.append(key, fresh, options);
    },
  })),
  historyMutant("moves the version with each append, also one that adds nothing", ["H30"], (store, world) => {
    const moved = (version: string) => (version === "" ? "" : `${version}+${attempts(world).count}`);
    return {
      append: async (key, records, options) => {
        const [version] = (options?.ifVersion ?? "").split("+");
        const ifVersion = options?.ifVersion === undefined ? undefined : version;
        const result = await store.append(key, records, { ...options, ifVersion });
        attempts(world).count += 1;
        return { ...result, version: moved(result.version) };
      },
      ...withPages(store, (page) => ({ ...page, version: moved(page.version) })),
    };
  }),
  historyMutant(
    "remembers the newest 100 ids where it declares all",
    ["H31"],
    (store) => dedupeBy(store, ({ id }, stored) => stored.slice(-100).some((one) => one.id === id)),
    { spares: ["H27"] },
  ),
  historyMutant(
    "looks for stored ids before the write, not in it",
    ["H32"],
    (store) => dedupeBy(store, ({ id }, stored) => stored.some((one) => one.id === id)),
    { spares: ["H27", "H28", "H31"] },
  ),
  historyMutant(
    "remembers ids in the process",
    ["H33"],
    (store) => {
      const mine = new Map<string, Set<string>>();
      return dedupeBy(store, ({ id }, _, key) => {
        const ids = mine.get(historyKeyText(key)) ?? new Set();
        mine.set(historyKeyText(key), ids);
        return ids.size === ids.add(id).size;
      });
    },
    { spares: ["H27", "H28"] },
  ),
  historyMutant("marks ids as cleared and skips them from then on", ["H50"], (store, world) => ({
    append: async (key, records, options) => {
      const gone = knownIds(world).get(historyKeyText(key)) ?? new Set();
      return store.append(key, Array.isArray(records) ? records.filter(({ id }) => !gone.has(id)) : records, options);
    },
    clear: async (key, options) => {
      const { records: stored } = await store.read(key);
      const gone = knownIds(world).get(historyKeyText(key)) ?? new Set();
      knownIds(world).set(historyKeyText(key), new Set([...gone, ...stored.map(({ id }) => id)]));
      await store.clear(key, options);
    },
  })),
  historyMutant(
    "writes an append in two steps, which only appends are locked out of",
    ["H51"],
    (store, world) => ({
      append: (key, records, options) =>
        sharedQueue(world)(async () => {
          const first = await store.append(key, records.slice(0, 2), options);
          const rest = await store.append(key, records.slice(2));
          return { version: rest.version, appended: first.appended + rest.appended };
        }),
    }),
    { spares: ["H06", "H07", "H27"] },
  ),
  historyMutant("keeps pages in a cache that only its own writes empty", ["H52"], (store) => {
    const cache = new Map<string, ReturnType<typeof store.read>>();
    return {
      read: (key, options) => {
        const name = JSON.stringify([key, { ...options, signal: undefined }]);
        const page = cache.get(name) ?? store.read(key, options);
        cache.set(name, page);
        return page;
      },
      append: (key, records, options) => {
        cache.clear();
        return store.append(key, records, options);
      },
    };
  }),
  historyMutant("takes options that are none for no options", ["H88"], (store) => ({
    clear: (key, options) => store.clear(key, typeof options === "object" ? options : {}),
  })),
  historyMutant("reads a signal that is none as no signal", ["H88"], (store) => ({
    append: (key, records, options) =>
      store.append(key, records, typeof options?.signal === "number" ? { ...options, signal: undefined } : options),
  })),
  historyMutant(
    "takes a key apart before it looks at it",
    ["H14"],
    (store) => ({
      read: async (key, options) => store.read({ owner: key.owner, source: key.source, session: key.session }, options),
    }),
    { rejects: "TypeError: Cannot read properties of null" },
  ),
  historyMutant(
    "takes a record apart before it looks at it",
    ["H19"],
    (store) => ({
      append: async (key, records, options) =>
        store.append(key, Array.isArray(records) ? records.map(({ id, data }) => ({ id, data })) : records, options),
    }),
    { rejects: "TypeError: Cannot destructure property" },
  ),
];

async function oneByOne(
  append: (key: HistoryKey, records: readonly HistoryRecord[]) => Promise<{ version: string; appended: number }>,
  key: HistoryKey,
  records: readonly HistoryRecord[],
  _options: unknown,
): Promise<{ version: string; appended: number }> {
  let result = { version: "", appended: 0 };
  for (const one of records) {
    const { version, appended } = await append(key, [one]);
    result = { version, appended: result.appended + appended };
  }
  return result;
}

function defaulted({ owner, source, session }: HistoryKey): HistoryKey {
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : "default");
  return { owner: text(owner), source: text(source), session: text(session) };
}

function isJson(data: string): boolean {
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}

/** What becomes of a text whose bytes are cut anywhere. */
function throughChunks(data: unknown): string {
  if (typeof data !== "string") {
    return Reflect.apply(String, undefined, [data]);
  }
  const bytes = Buffer.from(data);
  let text = "";
  for (let start = 0; start < bytes.length; start += 65_536) {
    text += bytes.subarray(start, start + 65_536).toString();
  }
  return text;
}
