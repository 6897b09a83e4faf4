import { AgentFrameworkError, type HistoryKey, type HistoryRecord, historyKeyText } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant, perWorld } from "../../support/mutant.ts";
import { afterRefusal, busy, otherwise } from "./detail-helpers.ts";
import { withPages } from "./helpers.ts";

const shown = perWorld(() => new Map<string, readonly HistoryRecord[]>());
const replaced = perWorld(() => ({ isReplaced: false, before: [] as readonly HistoryRecord[] }));
const flags = perWorld(() => ({ isOn: false, count: 0 }));

/** Stores that do something wrong in one place after an outage, a refusal or a lost message. */
export const lostDetailMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("reads nothing at its first read after an outage", ["H09"], (store) => {
    let hasFailed = false;
    return {
      read: async (key, options) => {
        try {
          const page = await store.read(key, options);
          const seen = hasFailed ? { records: [], version: "" } : page;
          hasFailed = false;
          return seen;
        } catch (error) {
          hasFailed = true;
          throw error;
        }
      },
    };
  }),
  historyMutant("acknowledges what it does not append after a second outage", ["H09"], (store, world) => {
    let outages = 0;
    return {
      read: (key, options) => {
        outages += world.broken ? 1 : 0;
        return store.read(key, options);
      },
      append: async (key, records, options) =>
        outages > 1 ? { version: "0", appended: records.length } : store.append(key, records, options),
    };
  }),
  historyMutant("reads without a look at the signal", ["H12"], (store) => ({
    read: (key, options) => store.read(key, { ...options, signal: undefined }),
  })),
  historyMutant("shows from its cache what it refused to write", ["H12", "H18", "H60", "H66"], (store, world) => ({
    append: (key, records, options) =>
      options?.signal?.aborted
        ? shownInstead(store.append(key, records, options), world, key, records)
        : shownInstead(store.append(key, records, options), world, key, records, "configuration"),
    replace: (key, range, records, options) =>
      shownInstead(store.replace(key, range, records, options), world, key, records, "configuration"),
    read: async (key, options) => {
      const page = await store.read(key, options);
      return { ...page, records: [...page.records, ...(shown(world).get(historyKeyText(key)) ?? [])] };
    },
  })),
  historyMutant("leaves the newest record out of its first read after an abort", ["H13"], (store) => {
    let wasAborted = false;
    return {
      append: async (key, records, options) => {
        wasAborted ||= options?.signal !== undefined;
        return store.append(key, records, options);
      },
      read: async (key, options) => {
        const page = await store.read(key, options);
        const records = wasAborted ? page.records.slice(0, -1) : page.records;
        wasAborted = false;
        return { ...page, records };
      },
    };
  }),
  historyMutant("acknowledges a replace of a run of which an end is not stored", ["H61"], (store, world) => ({
    replace: async (key, range, records, options) => {
      const { records: stored } = await world.inner.read(key);
      const ids = new Set(stored.map(({ id }) => id));
      const isUnknown = stored.length > 0 && !(ids.has(range.fromId) && ids.has(range.throughId));
      return isUnknown ? { version: "0" } : store.replace(key, range, records, options);
    },
  })),
  historyMutant("acknowledges a replace in an unknown conversation", ["H61"], (store, world) => ({
    replace: async (key, range, records, options) => {
      const { version } = await world.inner.read(key);
      return version === "" ? { version: "0" } : store.replace(key, range, records, options);
    },
  })),
  historyMutant("keeps the version when it replaces", ["H54"], (store, world) => {
    const names = new Map<string, string>();
    return {
      replace: async (key, range, records, options) => {
        const before = await world.inner.read(key);
        const { version } = await store.replace(key, range, records, options);
        names.set(version, before.version);
        return { version: before.version };
      },
      ...withPages(store, (page) => ({ ...page, version: names.get(page.version) ?? page.version })),
    };
  }),
  historyMutant("reads everything as it was before a replace, until the next append", ["H54"], (store, world) => ({
    replace: async (key, range, records, options) => {
      const { records: before } = await world.inner.read(key);
      const result = await store.replace(key, range, records, options);
      Object.assign(replaced(world), { isReplaced: true, before });
      return result;
    },
    append: async (key, records, options) => {
      replaced(world).isReplaced = false;
      return store.append(key, records, options);
    },
    ...withPages(store, (page, options) => {
      const { isReplaced, before } = replaced(world);
      return isReplaced && options === undefined ? { ...page, records: before } : page;
    }),
  })),
  historyMutant("reads everything as it was before a replace, after the next append", ["H54"], (store, world) => ({
    replace: async (key, range, records, options) => {
      replaced(world).before = (await world.inner.read(key)).records;
      return store.replace(key, range, records, options);
    },
    append: async (key, records, options) => {
      replaced(world).isReplaced = replaced(world).before.length > 0;
      return store.append(key, records, options);
    },
    ...withPages(store, (page, options) => {
      const { isReplaced, before } = replaced(world);
      return isReplaced && options === undefined ? { ...page, records: before } : page;
    }),
  })),
  historyMutant("shows a replaced run again when it is repeated", ["H62"], (store, world) => ({
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      shown(world).set(historyKeyText(key), result.appended === 0 ? records : []);
      return result;
    },
    read: async (key, options) => {
      const page = await store.read(key, options);
      return { ...page, records: [...page.records, ...(shown(world).get(historyKeyText(key)) ?? [])] };
    },
  })),
  historyMutant("shows a replaced record again when it is repeated beside a new one", ["H62"], (store, world) => ({
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      const isPartly = result.appended > 0 && result.appended < records.length;
      shown(world).set(historyKeyText(key), isPartly ? records.slice(0, records.length - result.appended) : []);
      return result;
    },
    read: async (key, options) => {
      const page = await store.read(key, options);
      return { ...page, records: [...page.records, ...(shown(world).get(historyKeyText(key)) ?? [])] };
    },
  })),
  historyMutant("puts the records of a replacement in backwards", ["H58", "H63"], (store) => ({
    replace: (key, range, records, options) => store.replace(key, range, [...records].reverse(), options),
  })),
  historyMutant("changes the data of what it puts in for a run", ["H66"], (store) => ({
    replace: (key, range, records, options) =>
      store.replace(key, range, records.length > 5 ? records.map(({ id }) => ({ id, data: "{}" })) : records, options),
  })),
  historyMutant("mixes up an append whose reply was lost, until it is repeated", ["H89"], (store, world) => ({
    append: (key, records, options) => {
      flags(world).isOn = world.fault === "lost reply";
      return store.append(key, records, options);
    },
    ...withPages(store, (page) => (flags(world).isOn ? { ...page, records: [...page.records].reverse() } : page)),
  })),
  historyMutant("loses the record behind the run when the reply to a replace was lost", ["H91"], (store, world) => ({
    replace: (key, range, records, options) =>
      afterRefusal(store.replace(key, range, records, options), ["outcome_unknown"], async () => {
        const last = (await world.inner.read(key)).records.at(-1)?.id ?? "";
        return world.inner.replace(key, { fromId: last, throughId: last }, []);
      }),
  })),
  historyMutant(
    "calls an append whose request was lost a fault of the caller",
    ["H92"],
    (store) => ({
      append: (key, records, options) =>
        otherwise(store.append(key, records, options), "unavailable", () => wrong("no connection")),
    }),
    { rejects: "no connection" },
  ),
  historyMutant(
    "calls an append that arrives twice a conflict with itself",
    ["H93"],
    (store, world) => ({
      append: async (key, records, options) => {
        const isTwice = world.fault === "duplicate";
        const result = await store.append(key, records, options);
        if (isTwice) {
          throw new AgentFrameworkError("conflict", "another append came first");
        }
        return result;
      },
    }),
    { rejects: "another append came first" },
  ),
  historyMutant(
    "says that nothing was written when the reply to an append was lost",
    ["H89", "H94"],
    (store) => ({
      append: (key, records, options) => otherwise(store.append(key, records, options), "outcome_unknown", busy),
    }),
    { rejects: "the server is busy" },
  ),
];

function wrong(message: string): AgentFrameworkError {
  return new AgentFrameworkError("configuration", message);
}

/** Lets reads show the records when the call is refused: with this code, or with any. */
async function shownInstead<T>(
  call: Promise<T>,
  world: object,
  key: HistoryKey,
  records: readonly HistoryRecord[],
  code?: string,
): Promise<T> {
  try {
    const result = await call;
    shown(world).delete(historyKeyText(key));
    return result;
  } catch (error) {
    if (code === undefined || (error instanceof AgentFrameworkError && error.code === code)) {
      shown(world).set(historyKeyText(key), records);
    }
    throw error;
  }
}
