import { AgentFrameworkError, type HistoryKey, historyKeyText } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant, perWorld } from "../../support/mutant.ts";
import { afterRefusal, busy, otherwise } from "./detail-helpers.ts";

const hidden = perWorld(() => new Map<string, number>());

/** Stores that do something wrong to what is stored in one place. */
export const writeDetailMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant(
    "acknowledges what it does not append",
    [
      "H02",
      "H04",
      "H10",
      "H11",
      "H13",
      "H29",
      "H36",
      "H50",
      "H51",
      "H67",
      "H74",
      "H76",
      "H78",
      "H85",
      "H88",
      "H89",
      "H90",
    ],
    (_, world) => ({
      append: async (key, records, options) => ({
        version: (await world.call("write", options, () => world.inner.read(key))).version,
        appended: records.length,
      }),
    }),
  ),
  historyMutant("acknowledges a clear and does nothing", ["H14", "H26"], (_, world) => ({
    clear: (_key, options) => world.call("write", options, async () => {}),
  })),
  historyMutant("gives a cleared conversation a version", ["H35", "H50"], (store, world) => ({
    clear: async (key, options) => {
      await store.clear(key, options);
      hidden(world).set(historyKeyText(key), 0);
    },
    read: async (key, options) => {
      const page = await store.read(key, options);
      return hidden(world).has(historyKeyText(key)) ? { ...page, version: page.version || "cleared" } : page;
    },
  })),
  historyMutant("makes a conversation of an append of nothing", ["H04"], (store, world) => ({
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      hidden(world).set(historyKeyText(key), records.length);
      return result;
    },
    read: async (key, options) => {
      const page = await store.read(key, options);
      return hidden(world).get(historyKeyText(key)) === 0 ? { ...page, version: page.version || "made" } : page;
    },
  })),
  historyMutant("loses the middle of an append of more than 10,000 records", ["H05"], (store) => ({
    append: async (key, records, options) => {
      if (records.length < 10_000) {
        return store.append(key, records, options);
      }
      const { version } = await store.append(key, [...records.slice(0, 5_000), ...records.slice(-5_000)], options);
      return { version, appended: records.length };
    },
  })),
  historyMutant(
    "adds records again under other ids when they are repeated",
    ["H27", "H31", "H32", "H33", "H72"],
    (store, world) => ({
      append: async (key, records, options) => {
        const result = await store.append(key, records, options);
        const again = records.map(({ id, data }) => ({ id: `${id} again`, data }));
        await (result.appended === 0 && records.length > 0 && world.inner.append(key, again));
        return result;
      },
    }),
  ),
  historyMutant("stores the sound records of a batch that it refuses", ["H18", "H19"], (store, world) => ({
    append: async (key, records, options) =>
      afterRefusal(store.append(key, records, options), ["configuration", "too_large"], async () => {
        for (const one of records) {
          await (Buffer.byteLength(one.data) < 1_000 && world.inner.append(key, [one]).catch(() => {}));
        }
      }),
  })),
  historyMutant("appends under a conflict, and rejects", ["H71"], (store, world) => ({
    append: (key, records, options) =>
      afterRefusal(store.append(key, records, options), ["conflict"], () => world.inner.append(key, records)),
  })),
  historyMutant("appends what was to replace a run that is not there", ["H61"], (store, world) => ({
    replace: (key, range, records, options) =>
      afterRefusal(store.replace(key, range, records, options), ["conflict"], () => world.inner.append(key, records)),
  })),
  historyMutant(
    "says of a lost race to append that its server is busy",
    ["H40", "H71"],
    (store) => ({
      append: (key, records, options) => otherwise(store.append(key, records, options), "conflict", busy),
    }),
    { rejects: "the server is busy" },
  ),
  historyMutant("does not say which version is current when it does not replace", ["H65"], (store) => ({
    replace: (...given) => otherwise(store.replace(...given), "conflict", nameless),
  })),
  historyMutant(
    "replaces nothing when the replacement is wrong, and says that it did",
    ["H60", "H61", "H66"],
    (store) => ({
      replace: (...given) => otherwise(store.replace(...given), "configuration", () => ({ version: "0" })),
    }),
  ),
  historyMutant("replaces nothing when the replacement is too large, and says that it did", ["H66"], (store) => ({
    replace: (...given) => otherwise(store.replace(...given), "too_large", () => ({ version: "0" })),
  })),
  historyMutant("appends nothing when a record is wrong, and says that it did", ["H05", "H18"], (store) => ({
    append: (key, records, options) =>
      otherwise(store.append(key, records, options), "configuration", () => ({ version: "0", appended: 0 })),
  })),
  historyMutant(
    "says that its server is busy when a name cannot be held",
    ["H17"],
    (store) => ({
      append: async (key, records, options) => {
        if (holdsNul(key) || (Array.isArray(records) && records.some((one) => String(one?.id).includes("\u0000")))) {
          throw busy();
        }
        return store.append(key, records, options);
      },
    }),
    { rejects: "the server is busy" },
  ),
];

function nameless(): AgentFrameworkError {
  return new AgentFrameworkError("conflict", "conflict");
}

function holdsNul(key: HistoryKey): boolean {
  return [key?.owner, key?.source, key?.session].some((part) => String(part).includes("\u0000"));
}
