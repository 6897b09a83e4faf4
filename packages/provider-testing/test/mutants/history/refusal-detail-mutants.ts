import { AgentFrameworkError, historyKeyText } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant, perWorld } from "../../support/mutant.ts";
import { afterRefusal, otherwise } from "./detail-helpers.ts";

const clearedKeys = perWorld(() => new Set<string>());

/** Stores that refuse wrongly in one place: they do what they refuse, or say that they did it. */
export const refusalDetailMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("says that it appended under a condition that it does not have", ["H36"], (store) => ({
    capabilities: { ...store.capabilities, conditionalAppend: false },
    append: async (key, records, options) =>
      options?.ifVersion === undefined
        ? store.append(key, records, options)
        : { version: options.ifVersion, appended: 0 },
  })),
  historyMutant("appends under a condition that it does not have, and rejects", ["H36"], (store) => ({
    capabilities: { ...store.capabilities, conditionalAppend: false },
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      if (options?.ifVersion !== undefined) {
        throw unsupported();
      }
      return result;
    },
  })),
  historyMutant("says that it replaced, which it declares not to do", ["H53"], (store) => ({
    capabilities: { ...store.capabilities, replace: false },
    replace: async (key) => ({ version: (await store.read(key)).version }),
  })),
  historyMutant("replaces, which it declares not to do, and rejects", ["H53"], (store) => ({
    capabilities: { ...store.capabilities, replace: false },
    replace: async (...given) => {
      await store.replace(...given);
      throw unsupported();
    },
  })),
  historyMutant("says that it appended nothing under the right version", ["H26", "H36"], (store) => ({
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      return options?.ifVersion === undefined ? result : { ...result, appended: 0 };
    },
  })),
  historyMutant(
    "takes an append under an old version for done when a part of it is stored",
    ["H37"],
    (store, world) => ({
      append: async (key, records, options) => {
        const { records: stored, version } = await world.inner.read(key);
        const isPartly = Array.isArray(records) && stored.some(({ id }) => records.some((one) => one?.id === id));
        return otherwise(store.append(key, records, options), "conflict", (error) =>
          isPartly ? { version, appended: 0 } : error,
        );
      },
    }),
  ),
  historyMutant("gives the version of its condition for a retry", ["H38"], (store) => ({
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      const isRetry = result.appended === 0 && options?.ifVersion;
      return isRetry ? { ...result, version: isRetry } : result;
    },
  })),
  historyMutant("gives no version for the retry of a first append", ["H38"], (store) => ({
    append: async (key, records, options) => {
      const result = await store.append(key, records, options);
      return result.appended === 0 && options?.ifVersion === "" ? { ...result, version: "" } : result;
    },
  })),
  historyMutant("takes an append under a version from before a clear for done", ["H39"], (store, world) => ({
    clear: (key, options) => {
      clearedKeys(world).add(historyKeyText(key));
      return store.clear(key, options);
    },
    append: (key, records, options) =>
      otherwise(store.append(key, records, options), "conflict", (error) =>
        clearedKeys(world).has(historyKeyText(key)) && options?.ifVersion !== ""
          ? { version: "0", appended: 0 }
          : error,
      ),
  })),
  historyMutant("takes an append for done when a record has no id", ["H19"], (store) => ({
    append: (key, records, options) =>
      otherwise(store.append(key, records, options), "configuration", (error) =>
        Array.isArray(records) && records.some((one) => typeof one?.data === "string" && one.id === "")
          ? { version: "0", appended: 0 }
          : error,
      ),
  })),
  historyMutant("takes an append for done when an id is in it twice", ["H19"], (store) => ({
    append: (key, records, options) =>
      otherwise(store.append(key, records, options), "configuration", (error) => {
        const ids = Array.isArray(records) ? records.map((one) => one?.id).filter((id) => typeof id === "string") : [];
        return new Set(ids).size < ids.length ? { version: "0", appended: 0 } : error;
      }),
  })),
  historyMutant("stores what stands behind a record that is too large", ["H20"], (store, world) => ({
    append: (key, records, options) =>
      afterRefusal(store.append(key, records, options), ["too_large"], () =>
        world.inner.append(key, records.slice(-1)),
      ),
  })),
];

function unsupported(): AgentFrameworkError {
  return new AgentFrameworkError("unsupported", "this store does not do it");
}
